"""The rows of one key held in memory: what the dictionary, file and key-value stores work on."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from vectormem.index.vectors import VectorIndex, Wanted
from vectormem.stores.rows import Draft, Embedding, Embeddings, Found, Row, Rows, VectorKind


class Table(Rows):
    """Rows by sequence number, oldest first, with lookups by id and by text."""

    def __init__(self) -> None:
        self._next_seq = 1
        self._rows: OrderedDict[int, Row] = OrderedDict()  # a dict is slow to give up its first entries
        self._by_id: dict[str, Row] = {}
        self._by_text: dict[str, Row] = {}
        self._kinds: dict[int, VectorKind] = {}
        self._vectors: dict[VectorKind, VectorIndex] = {}
        self.lock = threading.RLock()
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

    def insert(self, drafts: Sequence[Draft], embeddings: Embeddings) -> list[Row]:
        rows = [Row(seq, *draft) for seq, draft in enumerate(drafts, self._next_seq)]
        self._next_seq += len(rows)
        for row in rows:
            self._rows[row.seq] = self._by_id[row.id] = self._by_text[row.text] = row
            if row.text in embeddings:
                self.set_embedding(row, embeddings[row.text])
        return rows

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
        for held in (self._rows, self._by_id, self._by_text, self._kinds, self._vectors):
            held.clear()
        return count

    def embedding(self, row: Row) -> Embedding | None:
        kind = self._kinds.get(row.seq)
        vector = None if kind is None else self._vectors[kind].get(row.seq)
        return None if kind is None or vector is None else Embedding(kind.embedder, vector)

    def set_embedding(self, row: Row, embedding: Embedding) -> None:
        self._drop_vector(row)
        kind = VectorKind(embedding.embedder, len(embedding.vector))
        self._kinds[row.seq] = kind
        if kind not in self._vectors:
            self._vectors[kind] = VectorIndex(kind.dimensions)
        self._vectors[kind].append([row.seq], embedding.vector[None, :])

    def search(self, kind: VectorKind, wanted: Wanted) -> Found:
        """Return the rows whose vectors of this kind score best."""
        vectors = self._vectors.get(kind)
        if vectors is None:
            return Found([], len(self._rows))
        ranked = [(self._rows[hit.seq], hit.score) for hit in vectors.nearest(wanted)]
        return Found(ranked, len(self._rows) - len(vectors))

    def search_cost(self, kind: VectorKind) -> int:
        """Return how many float32 values a search goes through, about."""
        return self._vectors[kind].cost if kind in self._vectors else 0

    def vector_counts(self) -> dict[VectorKind | None, int]:
        counts: dict[VectorKind | None, int] = {
            kind: len(vectors) for kind, vectors in self._vectors.items() if len(vectors)
        }
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
            self._vectors[kind].remove([row.seq])
