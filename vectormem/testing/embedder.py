"""An embedder whose vectors a test writes down."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from embedders.protocol import Kind, Vectors


class ScriptedEmbedder:
    """Returns the vector that `vectors` holds for a text, and for others one made from its hash.

    `calls` holds the texts and the kind of each call. Where `answer` is set, its result is returned in
    place of the vectors, whatever it is: so a test can make the embedder fail.
    """

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]] | None = None,
        *,
        id: str = "scripted",
        dimensions: int = 4,
        max_batch: int = 96,
    ) -> None:
        self.id = id
        self.dimensions = dimensions
        self.max_batch = max_batch
        self.vectors = dict(vectors or {})
        self.calls: list[tuple[list[str], Kind]] = []
        self.answer: Callable[[Sequence[str]], object] | None = None

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return the vectors as written, of any length, padded with zeros to `dimensions`."""
        self.calls.append((list(texts), kind))
        if self.answer is not None:
            return cast("Vectors", self.answer(texts))
        result = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(result, texts, strict=True):
            vector = self.vectors.get(text, _hashed(text, self.dimensions))
            row[: len(vector)] = vector
        return result

    def __repr__(self) -> str:
        return f"ScriptedEmbedder(id={self.id!r}, dimensions={self.dimensions})"


def _hashed(text: str, dimensions: int) -> list[float]:
    digest = hashlib.shake_128(text.encode(errors="replace")).digest(dimensions)
    return [byte - 127.5 for byte in digest]
