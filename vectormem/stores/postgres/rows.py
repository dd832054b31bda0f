"""The rows of one key in a Postgres database, inside one transaction."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pgvector import Vector as DbVector

from vectormem.errors import StorageFailedError
from vectormem.index.array import Vector
from vectormem.stores.postgres.connection import Connection
from vectormem.stores.rows import Draft, Embedding, Embeddings, Row, Rows, VectorKind

T = TypeVar("T")

_COLUMNS = "seq, id, text, metadata, created_at"
_OF_KEY = f"SELECT {_COLUMNS} FROM memory_items WHERE key_id=%s"
_TABLES = ("memory_vectors", "memory_items")
_MOST_DIMENSIONS = 16_000
_WRITTEN_AT_ONCE = 1000
_INSERT = (
    "INSERT INTO memory_items(key_id, seq, id, text, metadata, created_at, text_hash)"
    " SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bytea[])"
)
_NAME_EMBEDDER = (
    "INSERT INTO memory_embedders(name) SELECT %s WHERE NOT EXISTS"
    " (SELECT 1 FROM memory_embedders WHERE name=%s) ON CONFLICT DO NOTHING"
)
_PUT_VECTORS = (
    "INSERT INTO memory_vectors(key_id, seq, embedder_id, dimensions, embedding)"
    " SELECT %s, new.seq, e.id, vector_dims(new.embedding), new.embedding"
    " FROM memory_embedders AS e, unnest(%s::bigint[], %b::vector[]) AS new(seq, embedding) WHERE e.name=%s"
    " ON CONFLICT (key_id, seq) DO UPDATE"
    " SET embedder_id=excluded.embedder_id, dimensions=excluded.dimensions, embedding=excluded.embedding"
)


class PostgresRows(Rows):
    """Rows by (key, seq). For a change the key is locked; `finish` writes its counters at the end."""

    def __init__(self, connection: Connection, scope_key: str) -> None:
        self._connection = connection
        self.scope_key = scope_key
        found = self._one("SELECT id, items, last_seq FROM memory_keys WHERE key=%s", scope_key)
        counters: tuple[int, int, int] = found or (0, 0, 0)
        self.key_id, self._items, self._last_seq = counters
        self._changed = False
        self._found: dict[str, Row | None] = {}  # rules look for a text more than once before they change anything
        self._named: set[str] = set()

    def count(self) -> int:
        return self._items

    def get(self, item_id: str) -> Row | None:
        return next(iter(self._select(f"{_OF_KEY} AND id=%s", item_id)), None)

    def known_ids(self, ids: Collection[str]) -> set[str]:
        if not self._items or not ids:
            return set()
        return {row.id for row in self._select(f"{_OF_KEY} AND id=ANY(%s)", list(ids))}

    def find(self, texts: Collection[str]) -> dict[str, Row]:
        unknown = [text for text in texts if text not in self._found] if self._items else []
        if unknown:
            rows = self._select(f"{_OF_KEY} AND text_hash=ANY(%s)", [_hash(text) for text in unknown])
            self._found |= {**dict.fromkeys(unknown), **{row.text: row for row in rows}}
        found = ((text, self._found.get(text)) for text in texts)
        return {text: row for text, row in found if row is not None}

    def newest(self, limit: int | None = None) -> list[Row]:
        return self._select(f"{_OF_KEY} ORDER BY seq DESC LIMIT %s", limit)

    def by_seq(self, seqs: Sequence[int]) -> list[Row]:
        found = {row.seq: row for row in self._select(f"{_OF_KEY} AND seq=ANY(%s)", list(seqs))}
        return [found[seq] for seq in seqs if seq in found]

    def insert(self, drafts: Sequence[Draft], embeddings: Embeddings) -> list[Row]:
        if not drafts:
            return []
        key_id = self._key()
        rows = [Row(seq, *draft) for seq, draft in enumerate(drafts, self._last_seq + 1)]
        self._last_seq += len(rows)
        self._items += len(rows)
        for chunk in _chunks(rows):
            columns = [list(column) for column in zip(*chunk, strict=True)]
            self._execute(_INSERT, key_id, *columns, [_hash(row.text) for row in chunk])
        self._write_vectors((row.seq, embeddings[row.text]) for row in rows if row.text in embeddings)
        return rows

    def delete(self, rows: Iterable[Row]) -> None:
        seqs = [row.seq for row in rows]
        if seqs:
            for table in _TABLES:
                self._execute(f"DELETE FROM {table} WHERE key_id=%s AND seq=ANY(%s)", self._key(), seqs)
            self._items -= len(seqs)

    def trim(self, max_items: int | None) -> list[Row]:
        surplus = 0 if max_items is None else self._items - max_items
        if surplus <= 0:
            return []
        oldest = self._select(f"{_OF_KEY} ORDER BY seq LIMIT %s", surplus)
        self.delete(oldest)
        return oldest

    def clear(self) -> int:
        count = self._items
        if count:
            for table in _TABLES:
                self._execute(f"DELETE FROM {table} WHERE key_id=%s", self._key())
            self._items = 0
        return count

    def embedding(self, row: Row) -> Embedding | None:
        return self.embeddings([row]).get(row.seq)

    def embeddings(self, rows: Sequence[Row]) -> dict[int, Embedding]:
        if not rows:
            return {}
        found = self._all(
            "SELECT seq, name, embedding FROM memory_vectors JOIN memory_embedders ON memory_embedders.id=embedder_id"
            " WHERE key_id=%s AND seq=ANY(%s)",
            self.key_id,
            [row.seq for row in rows],
        )
        return {seq: Embedding(name, vector_of(embedding)) for seq, name, embedding in found}

    def set_embedding(self, row: Row, embedding: Embedding) -> None:
        self._write_vectors([(row.seq, embedding)])

    def vector_counts(self) -> dict[VectorKind | None, int]:
        found = self._all(
            "SELECT name, dimensions, count(*) FROM memory_vectors JOIN memory_embedders"
            " ON memory_embedders.id=embedder_id WHERE key_id=%s GROUP BY 1, 2",
            self.key_id,
        )
        counts: dict[VectorKind | None, int] = {VectorKind(name, length): count for name, length, count in found}
        bare = self._items - sum(counts.values())
        return {**counts, None: bare} if bare else counts

    def without_vector(self, kind: VectorKind, after: int, limit: int) -> list[Row]:
        return self._select(
            f"{_OF_KEY} AND seq>%s AND NOT EXISTS (SELECT 1 FROM memory_vectors AS v JOIN memory_embedders AS e"
            " ON e.id=v.embedder_id WHERE v.key_id=memory_items.key_id AND v.seq=memory_items.seq"
            " AND e.name=%s AND v.dimensions=%s) ORDER BY seq LIMIT %s",
            after,
            *kind,
            limit,
        )

    def copied_ids(self) -> set[str]:
        return {item_id for (item_id,) in self._all("SELECT id FROM memory_copied WHERE key_id=%s", self.key_id)}

    def mark_copied(self, ids: Collection[str]) -> None:
        if ids:
            sql = "INSERT INTO memory_copied(key_id, id) SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING"
            self._execute(sql, self._key(), list(ids))

    def finish(self) -> None:
        """Write the key's counters, or forget the key where nothing of it is left."""
        if not self._changed:
            return
        if not self._items and not self.copied_ids():
            self._execute("DELETE FROM memory_keys WHERE id=%s", self.key_id)
            return
        sql = "UPDATE memory_keys SET items=%s, last_seq=%s WHERE id=%s"
        self._execute(sql, self._items, self._last_seq, self.key_id)

    def _key(self) -> int:
        """Return the number of the key for a change, giving it one where it is new."""
        self._changed = True
        self._found.clear()
        if not self.key_id:
            sql = "INSERT INTO memory_keys(key, items, last_seq) VALUES (%s, 0, 0) RETURNING id"
            self.key_id = int(self._one(sql, self.scope_key)[0])
        return self.key_id

    def _write_vectors(self, embeddings: Iterable[tuple[int, Embedding]]) -> None:
        by_embedder: dict[str, list[tuple[int, DbVector]]] = {}
        for seq, (embedder, vector) in embeddings:
            by_embedder.setdefault(embedder, []).append((seq, db_vector(vector)))
        for embedder, vectors in by_embedder.items():
            if embedder not in self._named:
                self._execute(_NAME_EMBEDDER, embedder, embedder)
                self._named.add(embedder)
            for chunk in _chunks(vectors):
                seqs, values = zip(*chunk, strict=True)
                self._execute(_PUT_VECTORS, self._key(), list(seqs), list(values), embedder)

    def _select(self, sql: str, *values: Any) -> list[Row]:
        return list(map(Row._make, self._all(sql, self.key_id, *values)))

    def _one(self, sql: str, *values: Any) -> Any:
        return next(iter(self._all(sql, *values)), None)

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.query(sql, values)

    def _execute(self, sql: str, *values: Any) -> None:
        self._connection.execute(sql, values)


def db_vector(vector: Vector) -> DbVector:
    """Return a vector as pgvector takes it."""
    if len(vector) > _MOST_DIMENSIONS:
        raise StorageFailedError(
            f"pgvector holds up to {_MOST_DIMENSIONS:,} dimensions, not {len(vector):,}; "
            "use an embedder with fewer, or SQLite"
        )
    return DbVector(vector)


def vector_of(value: Any) -> Vector:
    """Return a vector that was read, float32."""
    vector: Vector = (value.to_numpy() if isinstance(value, DbVector) else value).astype("<f4")
    return vector


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    return (rows[start : start + _WRITTEN_AT_ONCE] for start in range(0, len(rows), _WRITTEN_AT_ONCE))
