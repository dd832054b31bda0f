"""The nearest vectors of one key by cosine similarity."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vectormem.index.array import Matrix, Seqs, Vector, VectorArray

TOLERANCE = 1e-6
"""How far a float32 score may lie below a threshold and still reach it."""


class Hit(NamedTuple):
    """A found row and its cosine similarity, from -1 to 1."""

    seq: int
    score: float


def nearest(array: VectorArray, query: Vector, limit: int | None, min_score: float) -> list[Hit]:
    """Return the rows with the highest scores: highest first, newer first where scores are equal.

    `query` has unit length; `min_score` is inclusive. The float32 product chooses, and the chosen rows are
    scored again in float64, so that equal vectors have equal scores wherever they lie.
    """
    if not query.any() or not len(array):
        return []
    rough = array.matrix @ query
    if array.has_dead:
        rough[~array.alive] = -np.inf
    chosen = _candidates(rough, limit, min_score)
    return order(array.seqs[chosen], exact_scores(array.matrix[chosen], query), limit, min_score)


def exact_scores(vectors: Matrix, query: Vector) -> NDArray[np.float64]:
    """Return cosines, float64: the same for equal vectors, 0 for a zero vector, never NaN."""
    rows, wide_query = vectors.astype(np.float64), query.astype(np.float64)
    norms = np.sqrt((rows * rows).sum(axis=1) * (wide_query * wide_query).sum())
    scores = (rows * wide_query).sum(axis=1) / np.where(norms == 0, 1, norms)
    return np.asarray(np.clip(scores, -1.0, 1.0), np.float64)


def order(seqs: Seqs, scores: NDArray[np.float64], limit: int | None, min_score: float) -> list[Hit]:
    """Return the hits that reach `min_score`, best first, newer first among equals, at most `limit`."""
    ranking = np.lexsort((-seqs, -scores))
    ranking = ranking[scores[ranking] >= min_score - TOLERANCE][:limit]
    return [Hit(*hit) for hit in zip(seqs[ranking].tolist(), scores[ranking].tolist(), strict=True)]


def _candidates(rough: NDArray[np.float32], limit: int | None, min_score: float) -> NDArray[np.intp]:
    threshold = min_score - TOLERANCE
    if limit is not None and limit < len(rough):
        kth = float(np.partition(rough, len(rough) - limit)[len(rough) - limit])
        threshold = max(threshold, kth)
    return np.flatnonzero(rough >= threshold - TOLERANCE)
