"""Where and with what a run was made, as far as it bears on the figures."""

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import apsw

from benchmarks.engines import ENGINES
from benchmarks.process import ROOT, total_bytes

_LIBRARIES = ("apsw", "faiss-cpu", "numpy", "pydantic", "sqlite-vec")


def describe_machine(work: Path) -> dict[str, Any]:
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": total_bytes() / 2**30,
        "os": _operating_system(),
        "file_system": _file_system(work),
        "python": sys.version.split()[0],
    }


def describe_versions() -> dict[str, str]:
    names = {*_LIBRARIES, *(name for spec in ENGINES.values() for name in spec.distributions)}
    found = {name: _version(name) for name in sorted(names)}
    return {"sqlite of apsw": apsw.sqlite_lib_version(), **{name: one for name, one in found.items() if one}}


def describe_commit() -> str:
    """Return the commit of the checkout, marked where files differ from it."""
    commit = _git("rev-parse", "HEAD")
    return (
        commit + (" with local changes" if _git("status", "--porcelain", "--untracked-files=no") else "")
        if commit
        else "unknown"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _git(*arguments: str) -> str:
    try:
        said = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.stdout.strip()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _operating_system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def _file_system(folder: Path) -> str:
    """Return the type of the file system that a folder is on."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown"
    parents = {str(parent) for parent in (folder.resolve(), *folder.resolve().parents)}
    found = [(len(point), kind) for point, kind in mounts if point in parents]
    return max(found)[1] if found else "unknown"
