"""What is stored and asked: numbered texts, the vectors prepared for them, and how they fall into keys."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
Vector: TypeAlias = NDArray[np.float32]

SPARE = 1000
"""Vectors beyond the largest shape, for items that are added one at a time."""

_ITEM = "memory {:08d}: the user said something here that is worth keeping for later"
_QUERY = "search {:08d}"
_DIGITS = slice(7, 15)


def item_text(number: int) -> str:
    return _ITEM.format(number)


def number_of(text: str) -> int:
    return int(text[_DIGITS])


class Batch(NamedTuple):
    """Items to store: their numbers, texts and vectors."""

    numbers: Sequence[int]
    texts: Sequence[str]
    vectors: Matrix


class Question(NamedTuple):
    """A query as a text, for engines that embed it, and as its vector, for the others."""

    number: int
    text: str
    vector: Vector


@dataclass(frozen=True)
class Shape:
    """How many keys of how many items each; item `i` is in key `i // per_key`."""

    keys: int
    per_key: int

    @property
    def items(self) -> int:
        return self.keys * self.per_key

    @property
    def name(self) -> str:
        return str(self.per_key) if self.keys == 1 else f"{self.keys}x{self.per_key}"

    def scaled(self, scale: float, least: int = 20) -> Self:
        return type(self)(self.keys, min(self.per_key, max(least, round(self.per_key * scale))))

    def numbers(self, key: int) -> range:
        return range(key * self.per_key, (key + 1) * self.per_key)

    def as_json(self) -> dict[str, int]:
        return asdict(self)


def key_name(key: int) -> str:
    return f"memory#user-{key:04d}"


class Workload:
    """The vectors of a run on disk. `items` reads into memory of its own; nothing stays mapped."""

    def __init__(self, folder: Path) -> None:
        self._items = folder / "items.npy"
        self._queries = folder / "queries.npy"
        self.queries: Matrix = np.load(self._queries)
        self.dimensions = int(self.queries.shape[1])

    def items(self, stop: int) -> Matrix:
        return np.array(np.load(self._items, mmap_mode="r")[:stop])

    def question(self, number: int) -> Question:
        number %= len(self.queries)
        return Question(number, _QUERY.format(number), self.queries[number])


class PreparedEmbedder:
    """A lookup in place of a model: the vector that was prepared for a text."""

    id = "prepared"
    max_batch = 100_000

    def __init__(self, items: Matrix | None, queries: Matrix) -> None:
        self._items = items
        self._queries = queries
        self.dimensions = int(queries.shape[1])

    def lookup(self, texts: Sequence[str]) -> Matrix:
        source = self._queries if texts[0].startswith("search") else self._items
        if source is None:
            raise ValueError("this process was given no vectors of items")
        first, last = number_of(texts[0]), number_of(texts[-1])
        if last - first + 1 == len(texts):  # a run of numbers, as batches are: a view, at no cost
            return source[first : last + 1]
        return source[[number_of(text) for text in texts]]

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> Matrix:
        return self.lookup(texts)


def batch_of(items: Matrix, numbers: range) -> Batch:
    return Batch(numbers, [item_text(number) for number in numbers], items[numbers.start : numbers.stop])


def to_json(value: Any) -> Any:
    """Turn numpy's numbers into Python's, and round floats to what is worth reading."""
    if isinstance(value, dict):
        return {name: to_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return float(f"{value:.6g}") if isinstance(value, float) else value
