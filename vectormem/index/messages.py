"""The messages of a scope key in memory: what a search has to know of each, beside its text."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vectormem.index.array import Matrix, Seqs, Vector, VectorArray

_PART_BITS = 20


class MessageFacts(NamedTuple):
    """One message: its order, its conversation and role, how much text it has, and whether it ends asking."""

    seq: int
    conversation: str
    role: str
    created_at: int
    length: int
    words: int
    asks: int


class MessageIndex:
    """Messages by position, oldest seq first, with the vectors of their passages and of their contexts.

    A passage is known by its key: the message's seq and the number of the part.
    """

    def __init__(self, dimensions: int) -> None:
        self.passages = VectorArray(dimensions)
        self.contexts = VectorArray(dimensions)
        self._names: dict[str, int] = {}
        self._owners: dict[str, NDArray[np.intp]] = {}
        self._set_facts(np.empty((0, 7), np.int64))

    def __len__(self) -> int:
        return len(self._facts)

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        return self.passages.nbytes + self.contexts.nbytes + 3 * self._facts.nbytes

    @property
    def seqs(self) -> Seqs:
        """Sequence numbers, ascending."""
        return self._facts[:, 0]

    @property
    def conversations(self) -> NDArray[np.int64]:
        """A number for each message's conversation."""
        return self._facts[:, 1]

    @property
    def words(self) -> NDArray[np.int64]:
        """Words of each message."""
        return self._facts[:, 5]

    @property
    def asks(self) -> NDArray[np.bool_]:
        """Whether each message ends with a question."""
        return self._facts[:, 6] > 0

    @property
    def order(self) -> NDArray[np.intp]:
        """The positions in the order in which conversations are read: by conversation, time and seq."""
        return self._order

    def put(self, facts: Iterable[MessageFacts]) -> None:
        """Take in messages, new ones or others in place of what was known."""
        rows = [(fact.seq, self._number(fact.conversation), self._number(fact.role), *fact[3:]) for fact in facts]
        new = np.array(rows, np.int64).reshape(len(rows), 7)
        kept = self._facts[~np.isin(self.seqs, new[:, 0])]
        merged = np.concatenate([kept, new])
        self._set_facts(merged[np.argsort(merged[:, 0], kind="stable")])

    def put_vectors(self, keys: Seqs, vectors: Matrix) -> None:
        """Take in vectors of passages and contexts, by key; their messages are there already."""
        self._owners.clear()
        is_context = part_of(keys) < 0
        self.contexts.append(seq_of(keys[is_context]), vectors[is_context])
        self.passages.append(keys[~is_context], vectors[~is_context])

    def drop_vectors(self, seqs: Collection[int]) -> None:
        """Forget the vectors of messages."""
        self._owners.clear()
        wanted = np.fromiter(seqs, np.int64, len(seqs))
        self.contexts.remove(wanted)
        own = self.passages.seqs
        self.passages.remove(own[np.isin(seq_of(own), wanted) & self.passages.alive])

    @property
    def passage_owners(self) -> NDArray[np.intp]:
        """The position of the message that each row of `passages` belongs to; of dead rows, any."""
        return self._owners_of("passages", seq_of(self.passages.seqs))

    def lacking(self, shortest: int) -> int:
        """Return how many messages of at least so many characters have no vector."""
        has_vector = np.zeros(len(self), np.bool_)
        has_vector[self.passage_owners[self.passages.alive]] = True
        return int(np.count_nonzero(~has_vector & (self._facts[:, 4] >= shortest)))

    def positions(self, seqs: Seqs) -> NDArray[np.intp]:
        """Return the positions of messages that are there."""
        return np.searchsorted(self.seqs, seqs)

    def admitted(
        self, conversation: str | None, excluded: str | None, roles: Collection[str] | None
    ) -> NDArray[np.bool_]:
        """Return which messages belong to the conversation, not to the excluded one, and have one of the roles."""
        mask = np.ones(len(self), np.bool_)
        if conversation is not None:
            mask &= self.conversations == self._names.get(conversation, -1)
        if excluded is not None:
            mask &= self.conversations != self._names.get(excluded, -1)
        if roles is not None:
            mask &= np.isin(self._facts[:, 2], [self._names.get(role, -1) for role in roles])
        return mask

    def cosines(self, query: Vector) -> NDArray[np.float64]:
        """Return each message's cosine with the query, that of its best passage; NaN where there is no vector."""
        return self._spread(self.passages, self.passage_owners, query)

    def context_cosines(self, query: Vector) -> NDArray[np.float64]:
        """Return the cosine of each message together with the one it answers; NaN where there is none."""
        return self._spread(self.contexts, self._owners_of("contexts", self.contexts.seqs), query)

    def _spread(self, array: VectorArray, owners: NDArray[np.intp], query: Vector) -> NDArray[np.float64]:
        if not query.any():  # like nothing, and not like everything
            return np.full(len(self), np.nan)
        best = np.full(len(self), -np.inf)
        scores = (array.matrix @ query).astype(np.float64)
        np.maximum.at(best, owners[array.alive], scores[array.alive])
        best[np.isneginf(best)] = np.nan
        return best

    def _owners_of(self, name: str, seqs: Seqs) -> NDArray[np.intp]:
        if name not in self._owners:
            self._owners[name] = np.minimum(self.positions(seqs), max(0, len(self) - 1))
        return self._owners[name]

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _set_facts(self, facts: NDArray[np.int64]) -> None:
        self._owners.clear()
        self._facts = facts
        self._order = np.lexsort((facts[:, 0], facts[:, 3], facts[:, 1]))


def key_of(seq: int, part: int) -> int:
    """Return the key of a part of a message."""
    return (seq << _PART_BITS) + part + 1


def seq_of(keys: Seqs) -> Seqs:
    """Return the messages that these parts belong to."""
    return keys >> _PART_BITS


def part_of(keys: Seqs) -> Seqs:
    """Return the numbers of these parts."""
    return (keys & ((1 << _PART_BITS) - 1)) - 1
