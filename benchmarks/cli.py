"""The command line: a run of the benchmark, the recall study, or the chart of an earlier run."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import chart, quality, recall, report, results, scaling
from benchmarks.engines import ENGINES
from benchmarks.plan import KINDS, ROWS, Settings, choose
from benchmarks.run import run

_RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status: 1 where vectormem failed in a row."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["recall"]:
        return recall.main(given[1:])
    if given[:1] == ["quality"]:
        return quality.main(given[1:])
    if given[:1] == ["load"]:
        from benchmarks import load  # needs the extra `postgres`

        return load.main(given[1:])
    if given[:1] == ["scaling"]:
        return scaling.main(given[1:])
    if given[:1] == ["chart"]:
        return _draw(given[1:])
    return _measure(_parser().parse_args(given))


def _measure(options: argparse.Namespace) -> int:
    progress = Console(stderr=True)
    settings = Settings(
        rows=tuple(choose(options.only)),
        engines=tuple(name for name in ENGINES if name in options.engines),
        vectors=options.vectors,
        scale=options.scale,
        seconds=options.seconds,
        budget=options.budget,
        processes=options.processes,
        seed=options.seed,
    )
    with tempfile.TemporaryDirectory(prefix="benchmarks-", dir=options.work) as work:
        rows = run(settings, Path(work), lambda line: progress.print(line, style="dim", highlight=False))
        document = results.assemble(rows, settings, Path(work))
    results.write(document, options.out)
    chart.draw(document, options.out.with_suffix(".svg"))
    console = report.console()
    report.show(document, console)
    console.print(f"\nwritten: {options.out} and {options.out.with_suffix('.svg').name}", highlight=False)
    own = [row["engines"].get(results.BASIS, {}) for row in rows.values()]
    return int(any("failed" in figures for figures in own))


def _draw(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks chart", description="Draw the chart of an earlier run.")
    parser.add_argument("results", type=Path, help="the JSON file of the run")
    path: Path = parser.parse_args(arguments).results
    chart.draw(json.loads(path.read_text()), path.with_suffix(".svg"))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks",
        description="Measure vectormem beside its peers and beside bare numpy and SQLite. "
        "Other commands: `recall --vectors FILE`, `quality --locomo FILE`, `load --dsn DSN`, `scaling`, "
        "`chart RESULTS.json`.",
    )
    names = (*KINDS, *(row.name for row in ROWS if row.name not in KINDS))
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE.npy",
        help="real embeddings, one a row, of any numeric type; synthetic ones without",
    )
    parser.add_argument("--only", nargs="+", choices=names, default=[], metavar="ROW", help=", ".join(names))
    parser.add_argument(
        "--engines",
        nargs="+",
        choices=tuple(ENGINES),
        default=list(ENGINES),
        metavar="NAME",
        help=f"{', '.join(ENGINES)}; bare numpy and apsw run beside vectormem",
    )
    parser.add_argument("--scale", type=float, default=1.0, help="shrink every shape by this factor (default: 1)")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long a row is repeated (default: 8)")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds that filling may take (default: 300)")
    parser.add_argument("--processes", type=int, default=7, help="repetitions of what needs new processes (default: 7)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (default: 1)")
    parser.add_argument("--work", type=Path, help="a folder on the disk to measure (default: the temporary one)")
    parser.add_argument(
        "--out",
        type=Path,
        default=_RESULTS / "latest.json",
        help="the JSON file; the chart is put beside it",
    )
    return parser
