"""Runs a job in a process of its own, and ends it where it takes too long or too much memory."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.job import Job
from benchmarks.threads import worker_environment

ROOT = Path(__file__).parent.parent

_POLL_SECONDS = 0.2
_MEMORY_SHARE = 0.6

Outcome = dict[str, Any]


def run(job: Job, *, most_seconds: float) -> Outcome:
    """Return the figures of a job; or `skipped` or `failed`, with the reason."""
    with tempfile.TemporaryDirectory(prefix="job-", dir=job.data) as scratch:
        asked, answered, said = (Path(scratch) / name for name in ("job.json", "outcome.json", "stderr"))
        asked.write_text(job.to_json())
        with said.open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.worker", str(asked), str(answered)],
                cwd=ROOT,
                env=worker_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            stopped = _watch(process, most_seconds)
        if stopped:
            return {"skipped": stopped}
        if answered.exists():
            outcome: Outcome = json.loads(answered.read_text())
            return outcome
        lines = said.read_text(errors="replace").strip().splitlines()
        return {"failed": lines[-1] if lines else f"exit status {process.returncode}"}


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory of a process, this one by default."""
    pid = pid or os.getpid()
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return int(said.stdout.strip() or 0) * 1024


def total_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def wall_seconds(command: list[str]) -> float:
    """Return how long a command takes from start to end. Raises CalledProcessError where it fails."""
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=worker_environment(), check=True, capture_output=True)
    return time.perf_counter() - started


def succeeds(command: list[str]) -> bool:
    return subprocess.run(command, cwd=ROOT, env=worker_environment(), check=False, capture_output=True).returncode == 0


def _watch(process: "subprocess.Popen[bytes]", most_seconds: float) -> str:
    """Wait for the end of a process; end it where it goes beyond a limit, and return which."""
    most_bytes = int(total_bytes() * _MEMORY_SHARE)
    limits: list[tuple[Callable[[], bool], str]] = []
    deadline = time.monotonic() + most_seconds
    limits.append((lambda: time.monotonic() > deadline, f"took more than {most_seconds:.0f} s"))
    limits.append((lambda: resident_bytes(process.pid) > most_bytes, f"took more than {most_bytes >> 20} MiB"))
    while True:
        try:
            process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            for exceeded, what in limits:
                if exceeded():
                    process.kill()
                    process.wait()
                    return what
        else:
            return ""
