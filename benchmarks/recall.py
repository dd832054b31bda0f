"""How much of the exact answer vectormem finds on real vectors, on word counts and on wide vectors."""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks import data, report
from benchmarks.data import Source, unit
from benchmarks.exact import Truth
from benchmarks.job import Job, truth_path
from benchmarks.process import run
from benchmarks.workload import Matrix, Shape, Workload
from embedders import HashEmbedder

_SIZES = (20_000, 60_000, 100_000)
_WIDE = 1536
_WORDS = 8_000
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bri cla dre fro glu".split()  # noqa: SIM905
_MOST_SECONDS = 1_800
_FLOOR = 0.1


class Case(NamedTuple):
    """Vectors under a name, made for a number of items."""

    name: str
    make: Callable[[int, int], Source]


def main(arguments: Sequence[str]) -> int:
    """Measure each case at each size and print one table."""
    options = _parser().parse_args(arguments)
    real = data.read_real(options.vectors)
    table = Table("vectors", title="recall of vectormem against exact search in float64", title_justify="left")
    for heading in ("items", "dimensions", "recall@10", "recall@100", "median", "/ numpy"):
        table.add_column(heading, justify="right")
    for case in _cases(real, options.vectors.stem):
        for size in options.sizes:
            table.add_row(case.name, f"{size:,}", *_cells(_measure(case.make(size, options.seed), size, options)))
    console = report.console()
    console.print(table)
    console.print(
        "Beyond the vectors of the file: pairs mixed, with noise of their own covariance. A time near that of "
        "the bare numpy product tells that the search was exact.",
        style="dim",
    )
    return 0


def _cases(real: Source, name: str) -> Iterator[Case]:
    yield Case(name, lambda size, seed: Source(_stretched(real, size, seed), real.queries))
    yield Case("words, HashEmbedder", _word_counts)
    yield Case(f"{name}, turned into {_WIDE} d", lambda size, seed: _widened(real, size, seed))


def _measure(source: Source, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Run warm queries in a process of their own and return their figures."""
    shape = Shape(1, size)
    with tempfile.TemporaryDirectory(prefix="recall-", dir=options.work) as folder:
        work = Path(folder)
        data.write(work, source, size, options.seed)
        workload = Workload(work)
        Truth.compute(source.items, workload.queries, shape).save(truth_path(work, shape))
        engine = work / "engine"
        engine.mkdir()
        job = Job("serve", "vectormem", shape, str(engine), folder, options.seconds, _MOST_SECONDS)
        outcome = run(job, most_seconds=_MOST_SECONDS)
    if "warm" not in outcome:
        raise SystemExit(f"vectormem gave no figures: {outcome}")
    return {"dimensions": workload.dimensions, **outcome["warm"]}


def _cells(figures: dict[str, Any]) -> list[str]:
    return [
        str(figures["dimensions"]),
        f"{figures['recall@10']:.4f}",
        f"{figures['recall@100']:.4f}",
        f"{figures['median_ms']:.3g} ms",
        f"{figures['times_numpy']:.3g}x",
    ]


def _stretched(real: Source, size: int, seed: int) -> Matrix:
    return np.concatenate(list(data.stretch(real.items, size, seed)))


def _word_counts(size: int, seed: int) -> Source:
    """Texts of words as frequent as those of a language, counted by the embedder that needs no model."""
    rng = np.random.default_rng(seed)
    items = _texts(rng, size, shortest=6, longest=20)
    queries = _texts(rng, data.QUERIES, shortest=3, longest=8)
    embedder = HashEmbedder()
    return Source(asyncio.run(embedder.embed(items)), asyncio.run(embedder.embed(queries)))


def _texts(rng: np.random.Generator, count: int, *, shortest: int, longest: int) -> list[str]:
    syllables = len(_SYLLABLES)
    words = [
        "".join(_SYLLABLES[(number // syllables**place) % syllables] for place in range(3)) for number in range(_WORDS)
    ]
    frequency = 1 / np.arange(2, _WORDS + 2)
    frequency /= frequency.sum()
    lengths = rng.integers(shortest, longest + 1, count)
    drawn = iter(rng.choice(_WORDS, int(lengths.sum()), p=frequency))
    return [" ".join(words[next(drawn)] for _ in range(length)) for length in lengths]


def _widened(real: Source, size: int, seed: int) -> Source:
    """Turn vectors at random into more dimensions, with noise at the floor of their own spectrum in each."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((_WIDE, real.items.shape[1])))
    spectrum = np.sort(np.linalg.eigvalsh(np.cov(real.items, rowvar=False)))
    level = float(np.sqrt(spectrum[int(len(spectrum) * _FLOOR)]))

    def widen(rows: Matrix) -> Matrix:
        noise = level * rng.standard_normal((len(rows), _WIDE), np.float32)
        return unit(rows @ turn.T.astype(np.float32) + noise)

    return Source(widen(_stretched(real, size, seed)), widen(real.queries))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks recall", description=__doc__)
    parser.add_argument("--vectors", type=Path, required=True, metavar="FILE.npy", help="real embeddings, one a row")
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="numbers of items")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each case is repeated (default: 4)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (default: 1)")
    parser.add_argument("--work", type=Path, help="a folder with room for the files (default: the temporary one)")
    return parser
