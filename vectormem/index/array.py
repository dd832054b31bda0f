"""The vectors of one key, in one block of memory that a matrix product can run over."""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
Matrix: TypeAlias = NDArray[np.float32]
Seqs: TypeAlias = NDArray[np.int64]

_Cell = TypeVar("_Cell", bound=np.generic)

_GROWTH = 1.5
_SMALLEST = 16
_MOST_DEAD = 0.25


class VectorArray:
    """Rows of unit vectors with their sequence numbers; row i belongs to `seqs[i]`.

    A removed row stays as a dead slot (`alive[i]` is False, its vector is zeroed) until a quarter of the
    slots are dead; then the array is packed. `packed` counts the packings: positions hold between two.
    Without `keeps_vectors` only the sequence numbers are held, `matrix` has no columns, and dead slots stay.
    """

    def __init__(self, dimensions: int, *, keeps_vectors: bool = True) -> None:
        self.dimensions = dimensions
        self.keeps_vectors = keeps_vectors
        self.packed = 0
        self._size = 0
        self._dead = 0
        self._ascending = True
        self._seqs: Seqs = np.empty(0, np.int64)
        self._alive = np.empty(0, np.bool_)
        self._matrix: Matrix = np.empty((0, dimensions if keeps_vectors else 0), np.float32)

    def __len__(self) -> int:
        return self._size - self._dead

    @property
    def slots(self) -> int:
        """The number of rows in use, dead ones among them."""
        return self._size

    @property
    def has_dead(self) -> bool:
        """Whether any slot is dead."""
        return self._dead > 0

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        return self._size * (9 + 4 * int(self._matrix.shape[1]))

    @property
    def seqs(self) -> Seqs:
        """Sequence numbers, shape (slots,)."""
        return self._seqs[: self._size]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """False for dead slots, shape (slots,)."""
        return self._alive[: self._size]

    @property
    def matrix(self) -> Matrix:
        """Vectors, shape (slots, dimensions)."""
        return self._matrix[: self._size]

    def reserve(self, size: int) -> None:
        """Make room for `size` slots in all, exactly."""
        if size > len(self._seqs):
            self._resize(size)

    def append(self, seqs: Sequence[int] | Seqs, vectors: Matrix) -> None:
        """Add rows at the end; no seq may be there already."""
        start, end = self._size, self._size + len(seqs)
        if end > len(self._seqs):
            self._resize(max(end, int(len(self._seqs) * _GROWTH), _SMALLEST))
        self._seqs[start:end] = seqs
        self._ascending &= bool((np.diff(self._seqs[max(0, start - 1) : end]) > 0).all())
        self._alive[start:end] = True
        if self.keeps_vectors:
            self._matrix[start:end] = vectors
        self._size = end

    def remove(self, seqs: Sequence[int] | Seqs) -> int:
        """Remove the rows with these sequence numbers and return how many were there."""
        gone = self._find(seqs)
        self._alive[gone] = False
        self._matrix[gone] = 0
        self._dead += len(gone)
        if self.keeps_vectors and self._dead > self._size * _MOST_DEAD:
            self._pack()
        return len(gone)

    def get(self, seq: int) -> Vector | None:
        """Return a copy of the vector with this sequence number."""
        found = self._find([seq])
        return self._matrix[found[0]].copy() if len(found) else None

    def _find(self, seqs: Sequence[int] | Seqs) -> NDArray[np.intp]:
        own, wanted = self.seqs, np.asarray(seqs, np.int64)
        if not self._ascending:
            return np.flatnonzero(np.isin(own, wanted) & self.alive)
        wanted = np.unique(wanted[wanted <= own[-1]]) if len(own) else wanted[:0]
        places: NDArray[np.intp] = np.searchsorted(own, wanted)
        found: NDArray[np.intp] = places[(own[places] == wanted) & self.alive[places]]
        return found

    def _resize(self, capacity: int) -> None:
        self._seqs = _resized(self._seqs, self._size, capacity)
        self._alive = _resized(self._alive, self._size, capacity)
        self._matrix = _resized(self._matrix, self._size, capacity)

    def _pack(self) -> None:
        kept = np.flatnonzero(self.alive)
        self._seqs, self._matrix = self._seqs[kept], self._matrix[kept]
        self._alive = np.ones(len(kept), np.bool_)
        self._size, self._dead = len(kept), 0
        self.packed += 1


def _resized(old: NDArray[_Cell], used: int, capacity: int) -> NDArray[_Cell]:
    new = np.empty((capacity, *old.shape[1:]), old.dtype)
    new[:used] = old[:used]
    return new
