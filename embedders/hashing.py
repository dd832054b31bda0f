"""An embedder without a model: offline, instant, the same on every machine."""

from collections.abc import Sequence

import numpy as np

from embedders.protocol import Kind, Vectors
from embedders.words import words

_STOP_WORDS = frozenset("the a an is are was to of and or in on it does do what who how".split())  # noqa: SIM905
_SUFFIXES = ("ing", "ed", "es", "s")
_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193


class HashEmbedder:
    """Counts word stems in hashed buckets: texts that share words are close, synonyms are not.

    For tests, demos and machines without a model. Stems are hashed by FNV-1a (32 bit,
    http://www.isthe.com/chongo/tech/comp/fnv/) over their UTF-8 bytes. Vectors have unit length; a text
    without words, or of stop words only, gives the zero vector. Raises ValueError for `dimensions` below 1.
    """

    def __init__(self, dimensions: int = 256) -> None:
        if isinstance(dimensions, bool) or not isinstance(dimensions, int) or dimensions < 1:
            raise ValueError(f"dimensions must be a whole number of at least 1, not {dimensions!r}")
        self.dimensions = dimensions
        self.id = f"hash:{dimensions}"

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions); `kind` makes no difference."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in words(text):
                if word not in _STOP_WORDS:
                    vector[_fnv1a(_stem(word)) % self.dimensions] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(norms == 0, 1, norms)).astype(np.float32)

    def __repr__(self) -> str:
        return f"HashEmbedder({self.dimensions})"


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if len(word) > len(suffix) + 2 and word.endswith(suffix):
            return word.removesuffix(suffix)
    return word


def _fnv1a(text: str) -> int:
    value = _FNV_OFFSET
    for byte in text.encode(errors="replace"):
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return value
