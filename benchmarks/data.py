"""The vectors of a run: real ones from a file, stretched to any number, or a seeded synthetic mixture."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.workload import Matrix

QUERIES = 400
SYNTHETIC_DIMENSIONS = 384

_CHUNK = 20_000
_ITEMS_PER_TOPIC = 40
_TOPIC_SPREAD = 0.7


class Source(NamedTuple):
    """Unit vectors, and queries that are none of them."""

    items: Matrix
    queries: Matrix


def unit(rows: Matrix) -> Matrix:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(norms == 0, 1, norms), np.float32)


def read_real(path: Path) -> Source:
    """Read rows of any numeric type; the last 400 (a tenth of a small file) are the queries."""
    rows = unit(np.load(path).astype(np.float32))
    queries = min(QUERIES, len(rows) // 10)
    return Source(rows[:-queries], rows[-queries:])


def make_synthetic(count: int, seed: int) -> Source:
    """Topics on the sphere, and items around them."""
    rng = np.random.default_rng(seed)
    topics = _normal(rng, max(10, count // _ITEMS_PER_TOPIC))
    rows = [
        topics[rng.integers(len(topics), size=size)] + _TOPIC_SPREAD * _normal(rng, size)
        for size in _sizes(count + QUERIES)
    ]
    made = unit(np.concatenate(rows))
    return Source(made[:count], made[count:])


def stretch(real: Matrix, count: int, seed: int) -> Iterator[Matrix]:
    """Yield `count` unit vectors in chunks: the real ones, then mixtures made of them.

    A mixture is a weighted mean of two real vectors, which takes variance away, and noise with the
    covariance of the real ones, which puts just that much back. So every direction keeps its spread.
    """
    for start in range(0, min(count, len(real)), _CHUNK):
        yield real[start : min(start + _CHUNK, count)]
    rng = np.random.default_rng(seed)
    spread = _Spread(real)
    for size in _sizes(count - len(real)):
        yield unit(spread.mixtures(rng, size))


def write(folder: Path, source: Source, count: int, seed: int) -> None:
    """Write the items and queries of a run, as `Workload` reads them."""
    shape = (count, source.items.shape[1])
    items = np.lib.format.open_memmap(folder / "items.npy", mode="w+", dtype=np.float32, shape=shape)
    start = 0
    for chunk in stretch(source.items, count, seed):
        items[start : start + len(chunk)] = chunk
        start += len(chunk)
    items.flush()
    np.save(folder / "queries.npy", source.queries)


class _Spread:
    """Where real vectors lie and how far they spread in each direction."""

    def __init__(self, real: Matrix) -> None:
        self._mean = real.mean(axis=0)
        self._centred = real - self._mean
        values, directions = np.linalg.eigh(np.cov(self._centred, rowvar=False))
        self._factor = (directions * np.sqrt(values.clip(0))).T.astype(np.float32)

    def mixtures(self, rng: np.random.Generator, size: int) -> Matrix:
        first, second = rng.integers(len(self._centred), size=(2, size))
        weight = rng.uniform(0.5, 1.0, (size, 1)).astype(np.float32)
        lost = 1 - weight**2 - (1 - weight) ** 2
        noise = rng.standard_normal((size, len(self._factor)), np.float32) @ self._factor
        mixed = weight * self._centred[first] + (1 - weight) * self._centred[second]
        return np.asarray(self._mean + mixed + np.sqrt(lost) * noise, np.float32)


def _normal(rng: np.random.Generator, size: int) -> Matrix:
    scale = np.float32(1 / np.sqrt(SYNTHETIC_DIMENSIONS))
    return rng.standard_normal((size, SYNTHETIC_DIMENSIONS), np.float32) * scale


def _sizes(count: int) -> list[int]:
    return [min(_CHUNK, count - start) for start in range(0, max(count, 0), _CHUNK)]
