"""Fuzz the parsers: `python -m tests.extras.fuzz [TARGET...] --runs N` writes the figures of a long run."""
# ruff: noqa: T201  # it is a command

import argparse
from pathlib import Path

from tests.extras.fuzz.runs import TARGET_NAMES, fuzz
from tests.proof import record


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    options = parser.parse_args()
    figures = {}
    for target in options.targets or TARGET_NAMES:
        figures[target] = fuzz(target, runs=options.runs, seed=options.seed)
        print(target, figures[target], flush=True)
        record.write("fuzz", {"runs": options.runs, "seed": options.seed}, figures, folder=options.out)


if __name__ == "__main__":
    main()
