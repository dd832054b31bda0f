"""The searchable vectors of one key: exact while they are few, in two stages when they are many."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from vectormem.index.array import Matrix, Seqs, Vector, VectorArray
from vectormem.index.codes import Codes
from vectormem.index.search import Hit, best

Fetch: TypeAlias = Callable[[Seqs], tuple[Seqs, Matrix]]
"""Reads vectors by sequence number from where they are stored; absent ones are left out."""

TWO_STAGE_FLOATS = 8_000_000
"""From this many values on, codes choose candidates; below, the full product takes some two milliseconds."""

INLINE_COST = 5_000_000
"""A search of up to this cost, about a millisecond, may run in the event loop."""

_FEWEST_CANDIDATES = 240
_CANDIDATES_PER_RESULT = 16
_CANDIDATE_GROWTH = 0.3
_FULL_RECALL_DIMENSIONS = 256
_LEAST_COARSENESS = 0.5
_LARGEST_SHARE = 0.25


class Wanted(NamedTuple):
    """What to look for: a unit vector, how many rows, from which score on, and whether never approximate."""

    query: Vector
    limit: int | None
    min_score: float
    exact: bool


class VectorIndex:
    """Vectors with the sequence numbers of their rows. Scores are always exact cosines.

    With `keeps_vectors=False` only codes are held, for a key too large for the memory it may use; the
    vectors of the candidates are then read through `fetch`.
    """

    def __init__(self, dimensions: int, *, keeps_vectors: bool = True) -> None:
        self._array = VectorArray(dimensions, keeps_vectors=keeps_vectors)
        self._codes: Codes | None = None if keeps_vectors else Codes(dimensions)
        self._coded_packing = 0

    def __len__(self) -> int:
        return len(self._array)

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        return self._array.nbytes + (self._codes.nbytes if self._codes else 0)

    @property
    def is_worn(self) -> bool:
        """Whether most of what is held is dead and cannot be packed, so that it is better read again."""
        return not self._array.keeps_vectors and self._array.slots > 2 * len(self._array)

    @property
    def cost(self) -> int:
        """How many float32 values a search has to go through, about."""
        return self._floats // 16 if self._is_large else self._floats

    def can_answer(self, wanted: Wanted) -> bool:
        """Whether the vectors in memory are enough."""
        return self._array.keeps_vectors or self._takes_two_stages(wanted)

    def reserve(self, size: int) -> None:
        """Make room for `size` vectors in all."""
        self._array.reserve(size)

    def append(self, seqs: Sequence[int] | Seqs, vectors: Matrix) -> None:
        """Add vectors; no seq may be there already."""
        self._array.append(seqs, vectors)
        if self._codes is not None and not self._array.keeps_vectors:
            self._codes.add(vectors)

    def remove(self, seqs: Sequence[int] | Seqs) -> None:
        """Remove vectors; absent ones are passed over."""
        self._array.remove(seqs)

    def prepare(self) -> None:
        """Make the codes now that the first search would make."""
        if self._array.keeps_vectors and self._is_large:
            self._coded()

    def get(self, seq: int) -> Vector | None:
        """Return a copy of a vector that is kept in memory."""
        return self._array.get(seq)

    def nearest(self, wanted: Wanted, fetch: Fetch | None = None) -> list[Hit]:
        """Return the best rows: highest score first, newer first where scores are equal."""
        if not len(self) or not wanted.query.any():
            return []
        array = self._array
        if not self._takes_two_stages(wanted):
            alive = array.alive if array.has_dead else None
            return best(array.seqs, array.matrix, wanted.query, wanted.limit, wanted.min_score, alive)
        slots = self._coded().candidates(wanted.query, self._candidate_count(wanted))
        slots = slots[array.alive[slots]]
        if fetch is None or array.keeps_vectors:
            return best(array.seqs[slots], array.matrix[slots], wanted.query, wanted.limit, wanted.min_score)
        return best(*fetch(array.seqs[slots]), wanted.query, wanted.limit, wanted.min_score)

    def _takes_two_stages(self, wanted: Wanted) -> bool:
        if not self._is_large or wanted.exact or wanted.limit is None:
            return False
        return self._candidate_count(wanted) <= self._array.slots * _LARGEST_SHARE

    def _candidate_count(self, wanted: Wanted) -> int:
        """Return how many candidates recall needs; measured on real text embeddings, see benchmarks/.

        One bit a dimension tells less the fewer dimensions there are, and dead slots take places.
        """
        slots, dimensions = self._array.slots, self._array.dimensions
        basis = _FEWEST_CANDIDATES + _CANDIDATES_PER_RESULT * (wanted.limit or 0)
        growth = max(1.0, (slots / 100_000) ** _CANDIDATE_GROWTH)
        coarseness = max(_LEAST_COARSENESS, _FULL_RECALL_DIMENSIONS / dimensions)
        return int(basis * growth * coarseness * slots / max(1, len(self)))

    @property
    def _floats(self) -> int:
        return self._array.slots * self._array.dimensions

    @property
    def _is_large(self) -> bool:
        return self._floats >= TWO_STAGE_FLOATS

    def _coded(self) -> Codes:
        """Return codes of all slots, adding those of new ones."""
        array = self._array
        if self._codes is None or self._coded_packing != array.packed:
            self._codes, self._coded_packing = Codes(array.dimensions), array.packed
        self._codes.add(array.matrix[len(self._codes) :])
        return self._codes
