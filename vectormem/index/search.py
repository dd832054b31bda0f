"""The nearest vectors of one key by cosine similarity."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vectormem.index.array import Matrix, Seqs, Vector

TOLERANCE = 1e-6
"""How far a float32 score may lie below a threshold and still reach it."""


_ROUGH_ERROR = 5e-6
_TINY = np.finfo(np.float64).tiny


class Hit(NamedTuple):
    """A found row and its cosine similarity, from -1 to 1."""

    seq: int
    score: float


def best(
    seqs: Seqs,
    vectors: Matrix,
    query: Vector,
    limit: int | None,
    min_score: float,
    alive: NDArray[np.bool_] | None = None,
) -> list[Hit]:
    """Return the rows with the highest scores: highest first, newer first where scores are equal.

    `query` and `vectors` have unit length (or are zero); `min_score` is inclusive. The float32 product
    chooses, and the chosen rows are scored again in float64, so that equal vectors have equal scores
    wherever they lie.
    """
    rough = vectors @ query
    if alive is not None:
        rough[~alive] = -np.inf
    chosen = _candidates(rough, limit, min_score)
    seqs, scores = seqs[chosen], exact_scores(vectors[chosen], query)
    ranking = np.lexsort((seqs, scores))[::-1]
    ranking = ranking[: np.count_nonzero(scores >= min_score - TOLERANCE)][:limit]
    return list(map(Hit._make, zip(seqs[ranking].tolist(), scores[ranking].tolist(), strict=True)))


def exact_scores(vectors: Matrix, query: Vector) -> NDArray[np.float64]:
    """Return cosines, float64: the same for equal vectors, 0 for a zero vector, never NaN."""
    rows, wide_query = vectors.astype(np.float64), query.astype(np.float64)
    squares = np.einsum("ij,ij->i", rows, rows) * float(wide_query @ wide_query)
    scores: NDArray[np.float64] = np.einsum("ij,j->i", rows, wide_query) / np.sqrt(np.maximum(squares, _TINY))
    return scores.clip(-1.0, 1.0)


def _candidates(rough: NDArray[np.float32], limit: int | None, min_score: float) -> NDArray[np.intp]:
    threshold = min_score - TOLERANCE
    if limit is not None and limit < len(rough):
        kth = float(np.partition(rough, len(rough) - limit)[len(rough) - limit])
        threshold = max(threshold, kth)
    return np.flatnonzero(rough >= threshold - _ROUGH_ERROR)
