"""Answers of an embeddings endpoint, checked and decoded."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from embedders.errors import EmbedderError
from embedders.protocol import Vectors


def rows_of(answer: Any, count: int) -> Vectors:
    """Return the vectors in the order of their `index`, which need not be the order in the answer.

    Raises EmbedderError where the answer does not hold one vector of one length for each of `count` texts.
    """
    data = getattr(answer, "data", None)
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise EmbedderError(f"the answer holds no vectors: {str(answer)[:200]!r}")
    if len(data) != count:
        raise EmbedderError(f"the answer holds {len(data)} vectors for {count} texts")
    rows = [_decode(_field(row, "embedding")) for row in _ordered(data)]
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1 or lengths == [0]:
        raise EmbedderError(f"the answer holds vectors of {lengths} dimensions")
    matrix = np.stack(rows) if rows else np.empty((0, 0), np.float32)
    if not np.isfinite(matrix).all():
        raise EmbedderError("the answer holds NaN or infinity")
    return matrix


def _ordered(data: Sequence[Any]) -> list[Any]:
    """Sort by index; a server that numbers no row at all answers in order."""
    places = [_field(row, "index") for row in data]
    if all(place is None for place in places):
        return list(data)
    by_place = dict(zip(places, data, strict=True))
    if set(by_place) != set(range(len(data))):
        raise EmbedderError(f"the answer numbers its vectors {places}, not 0 to {len(data) - 1}")
    return [by_place[place] for place in range(len(data))]


def _field(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, dict) else getattr(row, name, None)


def _decode(value: Any) -> Vectors:
    """Return a vector that came as base64 of little-endian float32, or as a list of numbers."""
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
        row = np.asarray(value, np.float32)
    except (ValueError, TypeError) as error:
        raise EmbedderError(f"the answer holds a vector that cannot be read: {error}") from error
    if row.ndim != 1:
        raise EmbedderError(f"the answer holds {str(value)[:100]!r} in place of a vector")
    return row
