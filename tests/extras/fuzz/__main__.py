"""Fuzz the parsers: `python -m tests.extras.fuzz [TARGET...] --runs N` writes the figures of a long run."""
# ruff: noqa: T201  # it is a command

import argparse
import tempfile
from pathlib import Path

from tests.extras.fuzz.runs import TARGET_NAMES, fuzz
from tests.proof import record


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--runs", type=int, default=1_000_000, help="executions of each target")
    parser.add_argument("--chunk", type=int, default=50_000, help="executions before it is the turn of the next target")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    options = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, max(1, options.runs // options.chunk) + 1):
            for target in options.targets or TARGET_NAMES:
                found = fuzz(target, runs=options.chunk, seed=seed, corpus=Path(folder) / target)
                for name in ("executions", "seconds"):
                    found[name] += figures.get(target, {}).get(name, 0)
                figures[target] = found
                record.write("fuzz", {"runs": options.runs, "chunk": options.chunk}, figures, folder=options.out)
            print(seed, figures, flush=True)


if __name__ == "__main__":
    main()
