"""The documents of one path in a database, inside one transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import apsw
import numpy as np

from vectormem.canonical import check_storable
from vectormem.errors import MemoryInvalidError
from vectormem.index.array import Matrix
from vectormem.stores.cache import State
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.added_tables import AddedTables
from vectormem.stores.sqlite.erased_rows import erase_rows
from vectormem.stores.sqlite.vectors import SqlVectors
from vectormem.stores.traces import Traces

Path: TypeAlias = tuple[str, ...]

TABLES = AddedTables(
    table="document_changes",
    script="""
CREATE TABLE IF NOT EXISTS document_spaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,    -- see `encode_path`
    vectors INTEGER NOT NULL,     -- rows in document_vectors
    last_seq INTEGER NOT NULL,    -- the highest seq given to a vector so far
    version INTEGER NOT NULL,     -- grows with every change
    log_start INTEGER NOT NULL    -- document_changes is complete for versions beyond this one
);
CREATE TABLE IF NOT EXISTS documents (
    seq INTEGER PRIMARY KEY,      -- order of the last change
    space_id INTEGER NOT NULL REFERENCES document_spaces(id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,          -- JSON
    created_at INTEGER NOT NULL,  -- microseconds since 1970, UTC
    updated_at INTEGER NOT NULL,
    ttl INTEGER,                  -- microseconds
    expires_at INTEGER,
    indexed TEXT,                 -- what of the value has vectors, as whoever stored it says
    UNIQUE (space_id, key)
);
CREATE INDEX IF NOT EXISTS documents_in_order ON documents(space_id, seq);
CREATE INDEX IF NOT EXISTS documents_by_end ON documents(expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS document_vectors (
    key_id INTEGER NOT NULL REFERENCES document_spaces(id),
    seq INTEGER NOT NULL,         -- order of insertion; never given out again
    document INTEGER NOT NULL REFERENCES documents(seq),
    embedder_id INTEGER NOT NULL REFERENCES memory_embedders(id),
    embedding BLOB NOT NULL,      -- float32, little-endian, unit length
    PRIMARY KEY (key_id, seq)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS document_vectors_by_document ON document_vectors(document);
CREATE TABLE IF NOT EXISTS document_changes (
    key_id INTEGER NOT NULL REFERENCES document_spaces(id),
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,         -- a vector that was deleted in this version
    PRIMARY KEY (key_id, version, seq)
) WITHOUT ROWID;
""",
)

COLUMNS = "d.seq, s.path, d.key, d.value, d.created_at, d.updated_at, d.ttl, d.expires_at, d.indexed"
_OF_VECTORS = (
    f"SELECT v.seq, {COLUMNS} FROM document_vectors AS v CROSS JOIN documents AS d ON d.seq=v.document"
    " CROSS JOIN document_spaces AS s ON s.id=d.space_id WHERE v.key_id=?"
)
_CHANGES_KEPT = 4096
_MOST_PARAMETERS = 500


class Document(NamedTuple):
    """A stored document. `seq` grows with each change: it is the order. `value` is JSON, times are microseconds."""

    seq: int
    path: bytes
    key: str
    value: str
    created_at: int
    updated_at: int
    ttl: int | None
    expires_at: int | None
    indexed: str | None


class Draft(NamedTuple):
    """A document to store, at a time and with the time it lives, in microseconds, or None for ever."""

    key: str
    value: str
    now: int
    ttl: int | None
    indexed: str | None = None


class Space:
    """The documents and vectors of one path. `finish` writes the counters at the end of a change."""

    def __init__(self, connection: apsw.Connection, path: bytes) -> None:
        self.connection = connection
        self.path = path
        self.scope_key = scope_key_of(path)
        sql = "SELECT id, vectors, last_seq, version, log_start FROM document_spaces WHERE path=?"
        found = self._all(sql, path)
        counters: tuple[int, int, int, int, int] = found[0] if found else (0, 0, 0, 0, 0)
        self.key_id, self._vectors, self._last_seq, self._version, self.log_start = counters
        self._changed = False

    @property
    def state(self) -> State:
        """What an index of the vectors has to reflect now."""
        return State(self.key_id, self._version, self._last_seq)

    def changed_since(self, version: int) -> list[int]:
        """Return the vectors that were deleted after this version, from `log_start` on."""
        sql = "SELECT seq FROM document_changes WHERE key_id=? AND version>?"
        return [seq for (seq,) in self._all(sql, self.key_id, version)]

    def count(self) -> int:
        """Return the number of vectors."""
        return self._vectors

    def vectors(self, kind: VectorKind) -> SqlVectors:
        """Return the vectors of one kind."""
        return SqlVectors(self.connection, self.key_id, kind, table="document_vectors")

    def get(self, key: str) -> Document | None:
        """Return the document with this key."""
        sql = f"SELECT {COLUMNS} FROM documents AS d JOIN document_spaces AS s ON s.id=d.space_id"
        found = self._all(f"{sql} WHERE d.space_id=? AND d.key=?", self.key_id, key)
        return Document(*found[0]) if found else None

    def of_vectors(self, seqs: Sequence[int]) -> dict[int, Document]:
        """Return the documents that these vectors belong to, by vector and in their order."""
        found: dict[int, Document] = {}
        for start in range(0, len(seqs), _MOST_PARAMETERS):
            chunk = seqs[start : start + _MOST_PARAMETERS]
            sql = f"{_OF_VECTORS} AND v.seq IN ({','.join('?' * len(chunk))})"
            found |= {seq: Document(*columns) for seq, *columns in self._all(sql, self.key_id, *chunk)}
        return {seq: found[seq] for seq in seqs}

    def put(self, draft: Draft, embedder: str, vectors: Matrix) -> None:
        """Store a document as the newest; one that is there under its key is replaced and keeps `created_at`."""
        self._change()
        created_at = draft.now
        if (old := self.get(draft.key)) is not None:
            created_at = draft.now if is_over(old, draft.now) else old.created_at
            self.delete(old)
        end = None if draft.ttl is None else draft.now + draft.ttl
        seq = self._all(
            "INSERT INTO documents(space_id, key, value, created_at, updated_at, ttl, expires_at, indexed)"
            " VALUES(?,?,?,?,?,?,?,?) RETURNING seq",
            *(self.key_id, draft.key, draft.value, created_at, draft.now, draft.ttl, end, draft.indexed),
        )[0][0]
        if len(vectors):
            self._write_vectors(seq, embedder, vectors)

    def set_vectors(self, document: Document, embedder: str, vectors: Matrix) -> None:
        """Give a document other vectors; it stays where it is in the order."""
        self._change()
        self._delete_vectors(document)
        self._write_vectors(document.seq, embedder, vectors)

    def delete(self, document: Document) -> None:
        """Delete a document and its vectors."""
        self._change()
        self._delete_vectors(document)
        self._all("DELETE FROM documents WHERE seq=?", document.seq)

    def finish(self) -> None:
        """Write the counters, or forget the path where nothing is left under it."""
        if not self._changed:
            return
        if not self._all("SELECT 1 FROM documents WHERE space_id=? LIMIT 1", self.key_id):
            self._all("DELETE FROM document_changes WHERE key_id=?", self.key_id)
            self._all("DELETE FROM document_spaces WHERE id=?", self.key_id)
            return
        self._version += 1
        if self._version - self.log_start > 2 * _CHANGES_KEPT:
            self.log_start = self._version - _CHANGES_KEPT
            self._all("DELETE FROM document_changes WHERE key_id=? AND version<=?", self.key_id, self.log_start)
        self._all(
            "UPDATE document_spaces SET vectors=?, last_seq=?, version=?, log_start=? WHERE id=?",
            *(self._vectors, self._last_seq, self._version, self.log_start, self.key_id),
        )

    def _change(self) -> None:
        self._changed = True
        if not self.key_id:
            sql = "INSERT INTO document_spaces(path, vectors, last_seq, version, log_start) VALUES(?,0,0,0,0)"
            self.key_id = self._all(f"{sql} RETURNING id", self.path)[0][0]

    def _delete_vectors(self, document: Document) -> None:
        gone = self._all("DELETE FROM document_vectors WHERE document=? RETURNING seq", document.seq)
        self._vectors -= len(gone)
        self.connection.executemany(
            "INSERT INTO document_changes(key_id, version, seq) VALUES(?,?,?)",
            ((self.key_id, self._version + 1, seq) for (seq,) in gone),
        )

    def _write_vectors(self, document: int, embedder: str, vectors: Matrix) -> None:
        self._all("INSERT OR IGNORE INTO memory_embedders(name) VALUES(?)", embedder)
        embedder_id = self._all("SELECT id FROM memory_embedders WHERE name=?", embedder)[0][0]
        first = self._last_seq + 1
        self._last_seq += len(vectors)
        self._vectors += len(vectors)
        self.connection.executemany(
            "INSERT INTO document_vectors(key_id, seq, document, embedder_id, embedding) VALUES(?,?,?,?,?)",
            (
                (self.key_id, first + place, document, embedder_id, np.asarray(vector, "<f4").tobytes())
                for place, vector in enumerate(vectors)
            ),
        )

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return self.connection.execute(sql, values).fetchall()


def is_over(document: Document, now: int) -> bool:
    """Whether the document has outlived its time."""
    return document.expires_at is not None and document.expires_at <= now


def erase(connection: apsw.Connection, label: str, traces: Traces) -> int:
    """Delete the documents whose paths hold a label below the root; return how many there were.

    `traces` is told what they held.
    """
    if not TABLES.are_in(connection):
        return 0
    spaces: list[Any] = connection.execute("SELECT id, path FROM document_spaces").fetchall()
    return sum(_erase_space(connection, number, traces) for number, path in spaces if label in decode_path(path)[1:])


def _erase_space(connection: apsw.Connection, number: int, traces: Traces) -> int:
    for table in ("document_vectors", "document_changes"):
        erase_rows(connection, table, "key_id=?", number, traces)
    count = erase_rows(connection, "documents", "space_id=?", number, traces)
    erase_rows(connection, "document_spaces", "id=?", number, traces)
    return count


def encode_path(path: Iterable[str]) -> bytes:
    """Return a path in bytes that sort as paths do, those below a path directly after it; any label is possible."""
    labels = []
    for label in path:
        if not isinstance(label, str):
            raise MemoryInvalidError(f"the labels of a namespace must be strings, not {label!r}")
        check_storable(label.replace("\0", ""), "a label of a namespace")
        labels.append(label.encode().replace(b"\0", b"\0\xff"))
    return b"".join(label + b"\0\1" for label in labels)


def decode_path(path: bytes) -> Path:
    """Return the labels of `encode_path`."""
    labels = path.split(b"\0\1")[:-1]
    return tuple(label.replace(b"\0\xff", b"\0").decode() for label in labels)


def scope_key_of(path: bytes) -> str:
    """Return the name of a path among the keys whose vectors are kept in memory; no scope key holds a NUL."""
    return f"\0{path.hex()}"


def path_of(scope_key: str) -> bytes:
    """Return the path of `scope_key_of`."""
    return bytes.fromhex(scope_key[1:])
