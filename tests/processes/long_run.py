"""Many processes writing one memory for longer than a test may take: `python -m tests.processes.long_run`."""
# ruff: noqa: T201  # it is a command

import argparse
import tempfile
import time
from pathlib import Path

from tests.processes.crowd import run_crowd
from tests.processes.worker import KEY, open_memory
from vectormem import blocking


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["file", "sqlite", "vectors"])
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--adds", type=int, default=500)
    options = parser.parse_args()
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            errors = run_crowd(kind, folder, [f"writer{n}" for n in range(options.processes)], options.adds)
            seconds = time.perf_counter() - started
            with blocking(open_memory(kind, Path(folder))) as memory:
                kept = memory.count(KEY)
            print(f"{kind:8} {kept} of {options.processes * options.adds} items kept, {seconds:.1f} s")
            print("".join(errors), end="")


if __name__ == "__main__":
    main()
