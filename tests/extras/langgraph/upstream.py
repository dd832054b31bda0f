"""LangGraph's own tests of stores, unchanged, run against ours: python tests/extras/langgraph/upstream.py

They come in the source distribution of langgraph-checkpoint, which pip fetches in the version that is installed.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

PACKAGE = "langgraph-checkpoint"
FOLDER_OF_PLUGIN = Path(__file__).parent / "upstream_plugin"


def main() -> int:
    """Return the exit status of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        return run_tests(unpacked(fetched(folder)))


def fetched(folder: str) -> Path:
    """Return the archive of the source distribution."""
    options = ["--quiet", "--no-deps", "--no-binary", PACKAGE, "--dest", folder]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, f"{PACKAGE}=={version(PACKAGE)}"], check=True)
    return next(Path(folder).glob("*.tar.gz"))


def unpacked(archive: Path) -> Path:
    """Return the folder that the archive holds."""
    with tarfile.open(archive) as content:
        content.extractall(archive.parent, filter="data")
    return next(path for path in archive.parent.iterdir() if path.is_dir())


def run_tests(folder: Path) -> int:
    """Run the tests of stores in this folder, with our store in place of LangGraph's."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "our_store", "-c", os.devnull, f"--rootdir={folder}"]
    options = ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    environment = os.environ | {"PYTHONPATH": str(FOLDER_OF_PLUGIN)}
    tests = ["tests/test_store.py"]
    return subprocess.run([*command, *options, *tests], cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
