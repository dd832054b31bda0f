"""The rows of one key held in memory: what the dictionary, file and key-value stores work on."""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from vectormem.index.array import VectorArray
from vectormem.stores.rows import Draft, Embedding, Row, Rows, VectorKind


class Table(Rows):
    """Rows by sequence number, oldest first, with lookups by id and by text."""

    def __init__(self) -> None:
        self._next_seq = 1
        self._rows: dict[int, Row] = {}
        self._by_id: dict[str, Row] = {}
        self._by_text: dict[str, Row] = {}
        self._kinds: dict[int, VectorKind] = {}
        self._arrays: dict[VectorKind, VectorArray] = {}
        self._copied: set[str] = set()

    def count(self) -> int:
        return len(self._rows)

    def get(self, item_id: str) -> Row | None:
        return self._by_id.get(item_id)

    def find(self, texts: Collection[str]) -> dict[str, Row]:
        return {text: self._by_text[text] for text in texts if text in self._by_text}

    def newest(self, limit: int | None = None) -> list[Row]:
        return list(islice(reversed(self._rows.values()), limit))

    def by_seq(self, seqs: Sequence[int]) -> list[Row]:
        return [self._rows[seq] for seq in seqs if seq in self._rows]

    def insert(self, draft: Draft, embedding: Embedding | None) -> Row:
        row = Row(self._next_seq, *draft)
        self._next_seq += 1
        self._rows[row.seq] = self._by_id[row.id] = self._by_text[row.text] = row
        if embedding is not None:
            self.set_embedding(row, embedding)
        return row

    def delete(self, rows: Iterable[Row]) -> None:
        for row in rows:
            del self._rows[row.seq], self._by_id[row.id], self._by_text[row.text]
            self._drop_vector(row)

    def trim(self, max_items: int | None) -> list[Row]:
        surplus = 0 if max_items is None else max(0, len(self._rows) - max_items)
        oldest = list(islice(self._rows.values(), surplus))
        self.delete(oldest)
        return oldest

    def clear(self) -> int:
        count = len(self._rows)
        for held in (self._rows, self._by_id, self._by_text, self._kinds, self._arrays):
            held.clear()
        return count

    def embedding(self, row: Row) -> Embedding | None:
        kind = self._kinds.get(row.seq)
        vector = None if kind is None else self._arrays[kind].get(row.seq)
        return None if kind is None or vector is None else Embedding(kind.embedder, vector)

    def set_embedding(self, row: Row, embedding: Embedding) -> None:
        self._drop_vector(row)
        kind = VectorKind(embedding.embedder, len(embedding.vector))
        self._kinds[row.seq] = kind
        self.vectors(kind).append([row.seq], embedding.vector[None, :])

    def vectors(self, kind: VectorKind) -> VectorArray:
        if kind not in self._arrays:
            self._arrays[kind] = VectorArray(kind.dimensions)
        return self._arrays[kind]

    def vector_counts(self) -> dict[VectorKind | None, int]:
        counts: dict[VectorKind | None, int] = {kind: len(array) for kind, array in self._arrays.items() if len(array)}
        bare = len(self._rows) - len(self._kinds)
        return {**counts, None: bare} if bare else counts

    def without_vector(self, kind: VectorKind, after: int, limit: int) -> list[Row]:
        lacking = (row for row in self._rows.values() if row.seq > after and self._kinds.get(row.seq) != kind)
        return list(islice(lacking, limit))

    def copied_ids(self) -> set[str]:
        return set(self._copied)

    def mark_copied(self, ids: Collection[str]) -> None:
        self._copied.update(ids)

    @property
    def is_blank(self) -> bool:
        """Whether nothing has to be kept of this key."""
        return not self._rows and not self._copied

    def _drop_vector(self, row: Row) -> None:
        kind = self._kinds.pop(row.seq, None)
        if kind is not None:
            self._arrays[kind].remove([row.seq])
