"""The long runs that prove what `docs/guarantees.md` says; each writes its figures to `benchmarks/results/proof`.

python -m tests.proof kills | imports | disk | steps | load | reader | soak
"""
# ruff: noqa: T201  # it is a command

import argparse
import tempfile
from pathlib import Path

from tests.proof import disk, imports, kills, load, record, soak, steps
from tests.proof.kinds import KINDS, open_memory


def _kills(options, folder):
    return kills.run(
        folder,
        kills=options.kills,
        kinds=options.kinds or KINDS,
        seed=options.seed,
        on_figures=lambda figures: _write(options, figures),
    )


def _imports(options, folder):
    return imports.run(folder, kills=options.kills, seed=options.seed)


def _disk(options, folder):
    figures = {"full_disk": {}}
    for kind, step in (("file", 1), ("sqlite", options.step), ("vectors", options.step)):
        home = folder / f"full {kind}"
        home.mkdir()
        figures["full_disk"][kind] = disk.fill(home, kind=kind, step=step)
        _write(options, figures)
    figures["failing_calls"] = disk.run(
        folder,
        kinds=options.kinds or KINDS,
        acts=options.acts,
        seed=options.seed,
        on_figures=lambda found: _write(options, {**figures, "failing_calls": found}),
    )
    return figures


def _steps(options, folder):
    return steps.run(
        folder,
        steps=options.steps,
        kinds=options.kinds or steps.KINDS,
        seed=options.seed,
        dsn=options.dsn,
        on_figures=lambda figures: _write(options, figures),
    )


def _load(options, folder):
    figures = {}
    for kind in options.kinds or KINDS:
        homes = [folder / f"{kind} {name}" for name in ("processes", "threads", "coroutines")]
        for home in homes:
            home.mkdir()
        one = load.processes(homes[0], kind=kind, count=options.processes, operations=options.operations)
        opened = [open_memory(kind, home) for home in homes[1:]]
        figures[kind] = {
            "processes": one,
            "threads": load.threads(opened[0], count=64, operations=options.operations // 50),
            "coroutines": load.coroutines(opened[1], count=1000, operations=options.operations // 500),
        }
        print(kind, figures[kind], flush=True)
        _write(options, figures)
    return figures


def _reader(options, folder):
    return load.with_a_reader(folder, kind="vectors", writes=options.writes)


def _soak(options, folder):
    return soak.run(folder, minutes=options.minutes)


RUNS = {
    "kills": _kills,
    "imports": _imports,
    "disk": _disk,
    "steps": _steps,
    "load": _load,
    "reader": _reader,
    "soak": _soak,
}


def _write(options, figures):
    settings = {name: value for name, value in vars(options).items() if name not in ("work", "out", "run", "dsn")}
    return record.write(options.run, settings, figures, folder=options.out, work=options.work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--kills", type=int, default=1000, help="processes to kill, of each kind")
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps beside the model, for each provider")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--operations", type=int, default=5000, help="operations of each process")
    parser.add_argument("--writes", type=int, default=100_000, help="writes beside a reader that stays")
    parser.add_argument("--minutes", type=float, default=60, help="length of the soak")
    parser.add_argument("--step", type=int, default=16, help="bytes between two sizes of a full disk")
    parser.add_argument("--acts", type=int, default=24, help="changes of which every call to the disk fails in turn")
    parser.add_argument("--dsn", help="an empty Postgres database, for the steps of postgres and postgres-vectors")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="folder for the files, on the disk to prove")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        figures = RUNS[options.run](options, Path(folder))
    print(figures)
    print(_write(options, figures))


if __name__ == "__main__":
    main()
