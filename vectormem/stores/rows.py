"""What every store offers to the rules above it: the rows of one key, read or changed as one whole."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from vectormem.index.array import Vector
from vectormem.index.vectors import Wanted
from vectormem.items import MemoryItem

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(moment: datetime) -> int:
    """Return an aware time as whole microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=1024)
def from_microseconds(value: int) -> datetime:
    """Return the aware UTC time of `to_microseconds`."""
    return _EPOCH + timedelta(microseconds=value)


class Draft(NamedTuple):
    """An item that has no place in the order yet. `metadata` is JSON text, `created_at` microseconds."""

    id: str
    text: str
    metadata: str | None
    created_at: int


class Row(NamedTuple):
    """A stored item. `seq` grows with each insertion: it, and not the clock, is the order."""

    seq: int
    id: str
    text: str
    metadata: str | None
    created_at: int


class Embedding(NamedTuple):
    """A unit vector (or zero), float32, and the id of the embedder that made it."""

    embedder: str
    vector: Vector


Embeddings: TypeAlias = Mapping[str, Embedding]
"""New vectors by text; texts without one are stored without a vector."""


class VectorKind(NamedTuple):
    """Vectors that may be compared: those of one embedder id and one length."""

    embedder: str
    dimensions: int


class Found(NamedTuple):
    """Ranked rows with their scores, and how many rows of the key could not be compared."""

    ranked: list[tuple[Row, float]]
    skipped: int


BRIEF = 100
"""Rows that a store may read where it is called, without a thread: tens of microseconds."""


class Rows(Protocol):
    """The rows of one key. Each method sees what the ones before it changed."""

    def count(self) -> int:
        """Return the number of rows."""
        ...

    def get(self, item_id: str) -> Row | None:
        """Return the row with this id."""
        ...

    def known_ids(self, ids: Collection[str]) -> set[str]:
        """Return those of the ids that are stored."""
        return {item_id for item_id in ids if self.get(item_id) is not None}

    def find(self, texts: Collection[str]) -> dict[str, Row]:
        """Return the rows that hold exactly these texts, by text."""
        ...

    def newest(self, limit: int | None = None) -> list[Row]:
        """Return the newest rows, newest first; all where `limit` is None."""
        ...

    def by_seq(self, seqs: Sequence[int]) -> list[Row]:
        """Return the rows with these sequence numbers, in the order asked for; absent ones are left out."""
        ...

    def insert(self, drafts: Sequence[Draft], embeddings: Embeddings) -> list[Row]:
        """Store rows as the newest, in this order. Their ids and texts must not be stored in this key."""
        ...

    def delete(self, rows: Iterable[Row]) -> None:
        """Delete these rows and their vectors."""
        ...

    def trim(self, max_items: int | None) -> list[Row]:
        """Delete the oldest rows beyond `max_items` and return them."""
        ...

    def clear(self) -> int:
        """Delete all rows and return how many there were."""
        ...

    def embedding(self, row: Row) -> Embedding | None:
        """Return the row's vector, where it has one."""
        ...

    def embeddings(self, rows: Sequence[Row]) -> dict[int, Embedding]:
        """Return the vectors of rows by seq; rows without one are left out."""
        found = ((row.seq, self.embedding(row)) for row in rows)
        return {seq: embedding for seq, embedding in found if embedding is not None}

    def set_embedding(self, row: Row, embedding: Embedding) -> None:
        """Replace the row's vector, whatever embedder made the old one."""
        ...

    def vector_counts(self) -> dict[VectorKind | None, int]:
        """Return how many rows have a vector of each kind; under None, how many have none."""
        ...

    def without_vector(self, kind: VectorKind, after: int, limit: int) -> list[Row]:
        """Return up to `limit` rows without a vector of this kind, oldest first, from beyond seq `after`."""
        ...

    def copied_ids(self) -> set[str]:
        """Return the ids of the older items that a migration has already copied into this key."""
        ...

    def mark_copied(self, ids: Collection[str]) -> None:
        """Remember these ids of older items as copied, for good."""
        ...


class ItemStore(Protocol):
    """Where rows live, and what "at once" means there."""

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        """Return `work(rows)` on one consistent state of the key; `work` changes nothing.

        `brief` says that it looks at some hundred rows at most, so that it need not go to a thread.
        """
        ...

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        """Return `work(rows)`; all that it changed is stored together, or nothing where it fails."""
        ...

    async def scope_keys(self) -> Sequence[str]:
        """Return the keys that hold items, sorted."""
        ...

    async def aclose(self) -> None:
        """Release what the store itself opened."""
        ...


class VectorStore(ItemStore, Protocol):
    """A store that keeps the vectors of its rows too, and searches them."""

    async def search(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> Found:
        """Return the rows whose vectors score best, read on one consistent state of the key."""
        ...


def item_of(row: Row, score: float | None = None) -> MemoryItem:
    """Return the public item of a row, with its score where it was ranked."""
    return MemoryItem.build(row.id, row.text, from_microseconds(row.created_at), row.metadata, score)
