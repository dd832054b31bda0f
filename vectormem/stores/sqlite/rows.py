"""The rows of one key in a database, inside one transaction."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import apsw
import numpy as np

from vectormem.stores.cache import State
from vectormem.stores.rows import Draft, Embedding, Embeddings, Row, Rows, VectorKind

T = TypeVar("T")

_COLUMNS = "seq, id, text, metadata, created_at"
_INSERT = "INSERT INTO memory_items(key_id, seq, id, text, metadata, created_at, text_hash) VALUES(?,?,?,?,?,?,?)"
_INSERT_VECTOR = "INSERT INTO memory_vectors(key_id, seq, embedder_id, embedding) VALUES(?,?,?,?)"
# Else SQLite may read the whole key for many values at once.
_BY_TEXT = "INDEXED BY memory_items_by_text WHERE key_id=? AND text_hash"
_BY_SEQ = "WHERE key_id=? AND seq"
_MOST_PARAMETERS = 500
_CHANGES_KEPT = 4096


class SqlRows(Rows):
    """Rows by (key, seq). `finish` writes the key's counters at the end of a change."""

    def __init__(self, connection: apsw.Connection, scope_key: str) -> None:
        self._connection = connection
        self.scope_key = scope_key
        found = self._one("SELECT id, items, last_seq, version, log_start FROM memory_keys WHERE key=?", scope_key)
        counters: tuple[int, int, int, int, int] = found or (0, 0, 0, 0, 0)
        self.key_id, self._items, self._last_seq, self._version, self.log_start = counters
        self._changed = False
        self._embedder_ids: dict[str, int] = {}

    @property
    def state(self) -> State:
        """What an index of the key has to reflect now."""
        return State(self.key_id, self._version, self._last_seq)

    def changed_since(self, version: int) -> list[int]:
        """Return the rows whose vectors were deleted or replaced after this version, from `log_start` on."""
        found = self._all("SELECT DISTINCT seq FROM memory_changes WHERE key_id=? AND version>?", self.key_id, version)
        return [seq for (seq,) in found]

    def count(self) -> int:
        return self._items

    def get(self, item_id: str) -> Row | None:
        return self._row("id=?", item_id)

    def find(self, texts: Collection[str]) -> dict[str, Row]:
        if not self._items:
            return {}
        rows = self._rows_in(_BY_TEXT, [_hash(text) for text in texts])
        return {row.text: row for row in rows}

    def newest(self, limit: int | None = None) -> list[Row]:
        return self._select(f"{self._of_key} ORDER BY seq DESC LIMIT ?", -1 if limit is None else limit)

    def by_seq(self, seqs: Sequence[int]) -> list[Row]:
        found = {row.seq: row for row in self._rows_in(_BY_SEQ, seqs)}
        return [found[seq] for seq in seqs if seq in found]

    def insert(self, drafts: Sequence[Draft], embeddings: Embeddings) -> list[Row]:
        if not drafts:
            return []
        key_id = self._key()
        rows = [Row(seq, *draft) for seq, draft in enumerate(drafts, self._last_seq + 1)]
        self._last_seq += len(rows)
        self._items += len(rows)
        self._connection.executemany(
            _INSERT,
            ((key_id, *row, _hash(row.text)) for row in rows),
        )
        self._write_vectors((row.seq, embeddings[row.text]) for row in rows if row.text in embeddings)
        return rows

    def put_back(self, row: Row, embedder_id: int | None, embedding: bytes | None) -> Row:
        """Store a row that was deleted in its old place, or as the newest where that is taken."""
        self._key()
        placed = row._replace(seq=self._last_seq + 1) if self.by_seq([row.seq]) else row
        self._last_seq = max(self._last_seq, placed.seq)
        self._items += 1
        self._log_change(placed.seq)
        self._run(_INSERT, *placed, _hash(placed.text))
        if embedding is not None:
            self._run(_INSERT_VECTOR, placed.seq, embedder_id, embedding)
        return placed

    def delete(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._log_change(row.seq)
            self._run("DELETE FROM memory_vectors WHERE key_id=? AND seq=?", row.seq)
            self._run("DELETE FROM memory_items WHERE key_id=? AND seq=?", row.seq)
            self._items -= 1

    def trim(self, max_items: int | None) -> list[Row]:
        surplus = 0 if max_items is None else self._items - max_items
        if surplus <= 0:
            return []
        oldest = self._select(f"{self._of_key} ORDER BY seq LIMIT ?", surplus)
        self.delete(oldest)
        return oldest

    def clear(self) -> int:
        count = self._items
        if count:
            self._key()
            for table in ("memory_vectors", "memory_items", "memory_changes"):
                self._run(f"DELETE FROM {table} WHERE key_id=?")
            self._items = 0
            self.log_start = self._version + 1
        return count

    def embedding(self, row: Row) -> Embedding | None:
        found = self._one(
            "SELECT name, embedding FROM memory_vectors JOIN memory_embedders ON memory_embedders.id=embedder_id"
            " WHERE key_id=? AND seq=?",
            self.key_id,
            row.seq,
        )
        return None if found is None else Embedding(found[0], np.frombuffer(found[1], "<f4"))

    def set_embedding(self, row: Row, embedding: Embedding) -> None:
        self._log_change(row.seq)
        self._run("DELETE FROM memory_vectors WHERE key_id=? AND seq=?", row.seq)
        self._write_vectors([(row.seq, embedding)])

    def vector_counts(self) -> dict[VectorKind | None, int]:
        found = self._all(
            "SELECT name, length(embedding) / 4, count(*) FROM memory_vectors JOIN memory_embedders"
            " ON memory_embedders.id=embedder_id WHERE key_id=? GROUP BY 1, 2",
            self.key_id,
        )
        counts: dict[VectorKind | None, int] = {VectorKind(name, length): count for name, length, count in found}
        bare = self._items - sum(counts.values())
        return {**counts, None: bare} if bare else counts

    def without_vector(self, kind: VectorKind, after: int, limit: int) -> list[Row]:
        return self._select(
            f"{self._of_key} AND seq>? AND NOT EXISTS (SELECT 1 FROM memory_vectors AS v WHERE"
            " v.key_id=memory_items.key_id AND v.seq=memory_items.seq AND v.embedder_id=? AND length(v.embedding)=?)"
            " ORDER BY seq LIMIT ?",
            after,
            self._embedder_id(kind.embedder),
            kind.dimensions * 4,
            limit,
        )

    def copied_ids(self) -> set[str]:
        return {item_id for (item_id,) in self._all("SELECT id FROM memory_copied WHERE key_id=?", self.key_id)}

    def mark_copied(self, ids: Collection[str]) -> None:
        for item_id in ids:
            self._run("INSERT OR IGNORE INTO memory_copied(key_id, id) VALUES(?,?)", item_id)

    def finish(self) -> None:
        """Write the key's counters, or forget the key where nothing of it is left."""
        if not self._changed:
            return
        if not self._items and not self.copied_ids():
            self._run("DELETE FROM memory_changes WHERE key_id=?")
            self._run("DELETE FROM memory_keys WHERE id=?")
            return
        self._version += 1
        if self._version - self.log_start > 2 * _CHANGES_KEPT:
            self.log_start = self._version - _CHANGES_KEPT
            self._run("DELETE FROM memory_changes WHERE key_id=? AND version<=?", self.log_start)
        self._connection.execute(
            "UPDATE memory_keys SET items=?, last_seq=?, version=?, log_start=? WHERE id=?",
            (self._items, self._last_seq, self._version, self.log_start, self.key_id),
        )

    def _key(self) -> int:
        """Return the number of the key for a change, giving it one where it is new."""
        self._changed = True
        if not self.key_id:
            self.key_id = self._insert_named(
                "INSERT INTO memory_keys(key, items, last_seq, version, log_start) VALUES(?,0,0,0,0) RETURNING id",
                self.scope_key,
            )
        return self.key_id

    def _embedder_id(self, name: str) -> int:
        found = self._one("SELECT id FROM memory_embedders WHERE name=?", name)
        return 0 if found is None else int(found[0])

    def _own_embedder_id(self, name: str) -> int:
        """Return the number of an embedder for a change, giving it one where it is new."""
        if name not in self._embedder_ids:
            self._embedder_ids[name] = self._embedder_id(name) or self._insert_named(
                "INSERT INTO memory_embedders(name) VALUES(?) RETURNING id", name
            )
        return self._embedder_ids[name]

    def _write_vectors(self, embeddings: Iterable[tuple[int, Embedding]]) -> None:
        key_id = self._key()
        self._connection.executemany(
            _INSERT_VECTOR,
            (
                (key_id, seq, self._own_embedder_id(embedder), vector.astype("<f4", copy=False).tobytes())
                for seq, (embedder, vector) in embeddings
            ),
        )

    def _log_change(self, seq: int) -> None:
        self._connection.execute(
            "INSERT OR IGNORE INTO memory_changes(key_id, version, seq) VALUES(?,?,?)",
            (self._key(), self._version + 1, seq),
        )

    _of_key = f"SELECT {_COLUMNS} FROM memory_items WHERE key_id=?"

    def _row(self, condition: str, value: object) -> Row | None:
        rows = self._select(f"{self._of_key} AND {condition}", value)
        return rows[0] if rows else None

    def _rows_in(self, condition: str, values: Sequence[Any]) -> list[Row]:
        rows: list[Row] = []
        for start in range(0, len(values), _MOST_PARAMETERS):
            chunk = values[start : start + _MOST_PARAMETERS]
            rows += self._select(_one_of(condition, len(chunk)), *chunk)
        return rows

    def _select(self, sql: str, *values: Any) -> list[Row]:
        return list(map(Row._make, self._connection.execute(sql, (self.key_id, *values))))

    def _run(self, sql: str, *values: Any) -> None:
        self._connection.execute(sql, (self._key(), *values))

    def _one(self, sql: str, *values: Any) -> Any:
        return next(iter(self._all(sql, *values)), None)

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def _insert_named(self, sql: str, name: str) -> int:
        return int(self._one(sql, name)[0])


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


@lru_cache(maxsize=1024)
def _one_of(condition: str, count: int) -> str:
    return f"SELECT {_COLUMNS} FROM memory_items {condition} IN ({','.join('?' * count)})"
