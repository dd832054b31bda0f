"""Recall against exact search in float64."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.workload import Matrix, Shape

DEPTHS = (10, 100)

_CHUNK = 20_000
_TIE = 1e-6  # float32 scores of equal rank may differ by this much


class Truth:
    """For each query the exact cosine of its 10th and 100th nearest item within the key that is asked."""

    def __init__(self, thresholds: NDArray[np.float64], shape: Shape) -> None:
        self._thresholds = thresholds
        self._shape = shape

    @classmethod
    def compute(cls, items: Matrix, queries: Matrix, shape: Shape) -> "Truth":
        """`queries[q]` asks key `q % keys`."""
        thresholds = np.empty((len(queries), len(DEPTHS)))
        for key in range(shape.keys):
            numbers = shape.numbers(key)
            own = np.arange(key, len(queries), shape.keys)
            if len(own):
                thresholds[own] = _kth_scores(items[numbers.start : numbers.stop], queries[own])
        return cls(thresholds, shape)

    def save(self, path: Path) -> None:
        np.save(path, self._thresholds)

    @classmethod
    def load(cls, path: Path, shape: Shape) -> "Truth":
        return cls(np.load(path), shape)

    def recall(self, items: Matrix, queries: Matrix, found: Sequence[tuple[int, Sequence[int]]], depth: int) -> float:
        """Return the mean share of the `depth` nearest that was found; `found` has (query, numbers of items)."""
        shares = [self._share(items, queries, query, numbers, depth) for query, numbers in found]
        return float(np.mean(shares))

    def _share(self, items: Matrix, queries: Matrix, query: int, numbers: Sequence[int], depth: int) -> float:
        asked = self._shape.numbers(query % self._shape.keys)
        own = [number for number in dict.fromkeys(numbers) if number in asked][:depth]
        scores = items[own].astype(np.float64) @ queries[query].astype(np.float64)
        threshold = self._thresholds[query, DEPTHS.index(depth)]
        return float((scores >= threshold - _TIE).sum() / min(depth, len(asked)))


def _kth_scores(items: Matrix, queries: Matrix) -> NDArray[np.float64]:
    """Return the scores of the 10th and 100th best; of the worst where there are fewer items."""
    wide = queries.astype(np.float64).T
    best = np.empty((0, wide.shape[1]))
    for start in range(0, len(items), _CHUNK):
        scores = items[start : start + _CHUNK].astype(np.float64) @ wide
        best = _largest(np.concatenate([best, scores]), max(DEPTHS))
    ranked = -np.sort(-best, axis=0)
    return np.stack([ranked[min(depth, len(ranked)) - 1] for depth in DEPTHS], axis=1)


def _largest(scores: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    if len(scores) <= count:
        return scores
    return np.partition(scores, len(scores) - count, axis=0)[-count:]
