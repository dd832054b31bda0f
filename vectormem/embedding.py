"""The one place where an embedder is called and what it returns is checked."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedders import Embedder
from embedders.arrays import as_array_like
from embedders.protocol import Kind
from vectormem.checks import check_positive
from vectormem.errors import EmbeddingError, MemoryInvalidError, VectorMemError
from vectormem.index.array import Matrix

_DEFAULT_BATCH = 96
_ROWS_AT_ONCE = 512  # so that a float64 copy stays in the processor's cache
_SMALLEST_SQUARE, _LARGEST_SQUARE = 1e-30, 1e30


def check_embedder(embedder: object) -> Embedder:
    """Return the embedder where it has an id and a method `embed`."""
    identity = getattr(embedder, "id", None)
    if not callable(getattr(embedder, "embed", None)) or not isinstance(identity, str) or not identity:
        raise MemoryInvalidError(
            f"embedder must have a non-empty string `id` and an async method `embed`, not {embedder!r}; "
            "HashEmbedder() works everywhere, as_embedder(function, id=...) wraps a function"
        )
    batch_size(embedder)  # type: ignore[arg-type]  # checked above
    return embedder  # type: ignore[return-value]  # checked above


def batches(embedder: Embedder, texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut `texts` into the batches that the embedder takes."""
    size = batch_size(embedder)
    return (texts[start : start + size] for start in range(0, len(texts), size))


def batch_size(embedder: Embedder) -> int:
    """Return how many texts go into one call of the embedder."""
    size = getattr(embedder, "max_batch", None)
    return _DEFAULT_BATCH if size is None else check_positive(size, "max_batch of the embedder")


async def embed(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    kind: Kind = "document",
    on_batch: Callable[[int], object] | None = None,
) -> Matrix:
    """Return unit vectors, float32 of shape (len(texts), dimensions); a zero vector stays zero.

    One call of the embedder for each batch; `on_batch` is told how many texts are done. Raises
    EmbeddingError where the embedder fails or returns the wrong number, shape, type or a value that is
    not finite.
    """
    parts: list[Matrix] = []
    for batch in batches(embedder, texts):
        parts.append(_as_unit_rows(embedder, await _call(embedder, batch, kind), len(batch)))
        if parts[-1].shape[1] != parts[0].shape[1]:
            raise EmbeddingError(
                f"embedder {embedder.id!r} returned vectors of {parts[0].shape[1]} and of {parts[-1].shape[1]} "
                "dimensions in one run"
            )
        if on_batch is not None:
            on_batch(sum(map(len, parts)))
    if not parts:
        return np.empty((0, 0), np.float32)
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


async def _call(embedder: Embedder, texts: Sequence[str], kind: Kind) -> object:
    try:
        result: Any = embedder.embed(texts, kind=kind)
        return await result if hasattr(result, "__await__") else result
    except VectorMemError:
        raise
    except Exception as error:
        raise EmbeddingError(f"embedder {embedder.id!r} failed on {len(texts)} texts: {error}") from error


def _as_unit_rows(embedder: Embedder, result: object, count: int) -> Matrix:
    try:
        matrix = np.asarray(as_array_like(result))
    except Exception as error:
        raise EmbeddingError(f"embedder {embedder.id!r} returned no array of numbers: {error}") from error
    if matrix.shape[:1] != (count,):
        returned = matrix.shape[0] if matrix.ndim else "no"
        raise EmbeddingError(f"embedder {embedder.id!r} returned {returned} vectors for {count} texts")
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise EmbeddingError(f"embedder {embedder.id!r} returned shape {matrix.shape}, not (texts, dimensions)")
    if matrix.dtype.kind not in "fiu":
        raise EmbeddingError(f"embedder {embedder.id!r} returned values of type {matrix.dtype}, not numbers")
    starts = range(0, count, _ROWS_AT_ONCE)
    parts = [_unit_rows(embedder, matrix[start : start + _ROWS_AT_ONCE]) for start in starts]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _unit_rows(embedder: Embedder, matrix: NDArray[Any]) -> Matrix:
    """Scale each row to length 1. Float32 is enough for that, but where squares overflow or vanish."""
    if matrix.dtype == np.float32:
        squares = np.einsum("ij,ij->i", matrix, matrix)
        if all(_SMALLEST_SQUARE < square < _LARGEST_SQUARE for square in squares.tolist()):  # not so for NaN
            unit: Matrix = np.divide(matrix, np.sqrt(squares)[:, None], order="C")
            return unit
    return _unit_rows_of_any_size(embedder, matrix.astype(np.float64))


def _unit_rows_of_any_size(embedder: Embedder, wide: NDArray[np.float64]) -> Matrix:
    finite = np.isfinite(wide).all(axis=1)
    if not finite.all():
        bad = int(np.flatnonzero(~finite)[0])
        raise EmbeddingError(f"embedder {embedder.id!r} returned NaN or infinity for a text of the batch (row {bad})")
    largest = np.abs(wide).max(axis=1, keepdims=True)
    scaled = wide / np.where(largest == 0, 1, largest)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return (scaled / np.where(norms == 0, 1, norms)).astype(np.float32, order="C")
