"""One-bit codes of many vectors: a fast first look that chooses candidates for exact scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vectormem.index.array import Matrix, Vector

_SAMPLE = 50_000


class Codes:
    """RaBitQ codes (Gao and Long, SIGMOD 2024, https://arxiv.org/abs/2405.12497) in faiss.

    They take 1/32 of the vectors' memory and need only a mean, which the first rows give; rows are added
    one at a time and never removed: whoever asks passes over what is gone.
    """

    def __init__(self, dimensions: int) -> None:
        import faiss  # takes a tenth of a second, and only large keys need it

        self._index: Any = faiss.IndexRaBitQFastScan(dimensions, faiss.METRIC_INNER_PRODUCT)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        return len(self) * int(self._index.code_size)

    def add(self, vectors: Matrix) -> None:
        """Add rows at the end."""
        if not len(vectors):
            return
        if not self._index.is_trained:
            self._index.train(np.ascontiguousarray(vectors[:_SAMPLE]))
        self._index.add(np.ascontiguousarray(vectors))

    def candidates(self, query: Vector, count: int) -> NDArray[np.int64]:
        """Return the positions of about `count` rows with the highest estimated product with the query."""
        _, found = self._index.search(query[None, :], min(count, len(self)))
        positions: NDArray[np.int64] = found[0]
        return positions[positions >= 0]
