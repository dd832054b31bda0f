"""The rows of the benchmark, and how a run measures them."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.workload import Shape


class Row(NamedTuple):
    """One line of the results; `kind` says how it is measured."""

    name: str
    kind: str
    shape: Shape | None
    work: str


_SHAPES: dict[str, tuple[Shape, ...]] = {
    "warm": (Shape(1, 100), Shape(1, 5_000), Shape(20, 5_000), Shape(1, 100_000), Shape(1, 1_000_000)),
    "first": (Shape(1, 5_000), Shape(1, 100_000)),
    "add": (Shape(1, 0), Shape(1, 10_000), Shape(1, 100_000)),
    "bulk": (Shape(1, 100_000),),
    "memory": (Shape(1, 100_000), Shape(1, 1_000_000)),
}
_WORK = {
    "warm": "warm query, limit 10, {shape}",
    "first": "first query of a new process, {shape}",
    "add": "one durable add, {shape} stored",
    "bulk": "bulk add, {shape}",
    "memory": "memory, {shape} loaded",
}


def _in_words(shape: Shape) -> str:
    return f"{shape.per_key:,} items" if shape.keys == 1 else f"{shape.keys} keys x {shape.per_key:,} items"


def _shaped(kind: str, shape: Shape) -> Row:
    return Row(f"{kind}-{shape.name}", kind, shape, _WORK[kind].format(shape=_in_words(shape)))


ROWS: tuple[Row, ...] = (
    *(_shaped(kind, shape) for kind, shapes in _SHAPES.items() for shape in shapes),
    Row("import", "import", None, "a process that imports the package"),
    Row("size", "size", None, "installed size"),
)
KINDS = tuple(dict.fromkeys(row.kind for row in ROWS))


def choose(wanted: Collection[str]) -> list[Row]:
    """Return the rows of these names or kinds, all where none is given."""
    return [row for row in ROWS if not wanted or row.name in wanted or row.kind in wanted]


@dataclass(frozen=True)
class Settings:
    """Options of a run, as the command line explains them."""

    rows: tuple[Row, ...]
    engines: tuple[str, ...]
    vectors: Path | None = None
    scale: float = 1.0
    seconds: float = 8.0
    budget: float = 300.0
    processes: int = 7
    seed: int = 1

    def shape(self, row: Row) -> Shape:
        assert row.shape is not None
        return row.shape.scaled(self.scale) if row.shape.items else row.shape
