"""Checkpoints of graphs in a database, inside one transaction; values are bytes with the name of their form."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import apsw

from vectormem.stores.sqlite.added_tables import AddedTables
from vectormem.stores.sqlite.erased_rows import erase_rows
from vectormem.stores.traces import Traces

Typed: TypeAlias = tuple[str, bytes]

TABLES = AddedTables(
    table="graph_writes",
    script="""
CREATE TABLE IF NOT EXISTS graph_checkpoints (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of insertion
    thread TEXT NOT NULL,
    ns TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    run TEXT,
    type TEXT NOT NULL,
    checkpoint BLOB NOT NULL,     -- without the values of its channels
    metadata_type TEXT NOT NULL,
    metadata BLOB NOT NULL,
    UNIQUE (thread, ns, id)
);
CREATE INDEX IF NOT EXISTS graph_checkpoints_in_order ON graph_checkpoints(thread, ns, seq);
CREATE INDEX IF NOT EXISTS graph_checkpoints_by_run ON graph_checkpoints(run) WHERE run IS NOT NULL;
CREATE TABLE IF NOT EXISTS graph_blobs (
    id INTEGER PRIMARY KEY,
    thread TEXT NOT NULL,
    hash BLOB NOT NULL,           -- BLAKE2b, 16 bytes, of type and value
    type TEXT NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (thread, hash)
);
CREATE TABLE IF NOT EXISTS graph_values (
    checkpoint INTEGER NOT NULL REFERENCES graph_checkpoints(seq),
    channel TEXT NOT NULL,
    blob_id INTEGER NOT NULL REFERENCES graph_blobs(id),
    PRIMARY KEY (checkpoint, channel)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS graph_values_by_blob ON graph_values(blob_id);
CREATE TABLE IF NOT EXISTS graph_writes (
    thread TEXT NOT NULL,
    ns TEXT NOT NULL,
    id TEXT NOT NULL,             -- of the checkpoint, which may be stored later
    task TEXT NOT NULL,
    place INTEGER NOT NULL,
    path TEXT NOT NULL,
    channel TEXT NOT NULL,
    type TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (thread, ns, id, task, place)
) WITHOUT ROWID;
""",
)
_OF_THREAD = (
    ("graph_values", "checkpoint IN (SELECT seq FROM graph_checkpoints WHERE thread=?)"),
    ("graph_blobs", "thread=?"),
    ("graph_writes", "thread=?"),
    ("graph_checkpoints", "thread=?"),
)


class Place(NamedTuple):
    """Where a checkpoint is stored."""

    thread: str
    ns: str
    id: str


class StoredCheckpoint(NamedTuple):
    """A checkpoint without the values of its channels. `seq` is the order of insertion."""

    seq: int
    thread: str
    ns: str
    id: str
    parent: str | None
    run: str | None
    type: str
    checkpoint: bytes
    metadata_type: str
    metadata: bytes

    @property
    def place(self) -> Place:
        """Where it is stored."""
        return Place(self.thread, self.ns, self.id)


class Write(NamedTuple):
    """A write that waits beside a checkpoint; in one of them, tasks come by path, then by task and place."""

    path: str
    task: str
    place: int
    channel: str
    type: str
    value: bytes


class Checkpoints:
    """All checkpoints that one transaction sees. A value that a thread holds already is not stored again."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def put(
        self,
        place: Place,
        parent: str | None,
        run: str | None,
        checkpoint: Typed,
        metadata: Typed,
        values: Mapping[str, Typed],
    ) -> None:
        """Store a checkpoint as the latest; one with this id is replaced where it is in the order."""
        seq = self._all(
            "INSERT INTO graph_checkpoints(thread, ns, id, parent, run, type, checkpoint, metadata_type, metadata)"
            " VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT(thread, ns, id) DO UPDATE SET parent=excluded.parent,"
            " run=excluded.run, type=excluded.type, checkpoint=excluded.checkpoint,"
            " metadata_type=excluded.metadata_type, metadata=excluded.metadata RETURNING seq",
            *(*place, parent, run, *checkpoint, *metadata),
        )[0][0]
        replaced = self._all("DELETE FROM graph_values WHERE checkpoint=? RETURNING 1", seq)
        self._connection.executemany(
            "INSERT INTO graph_values(checkpoint, channel, blob_id) VALUES(?,?,?)",
            ((seq, channel, self._blob(place.thread, *value)) for channel, value in values.items()),
        )
        if replaced:
            self._drop_unused(place.thread)

    def put_writes(self, place: Place, writes: Iterable[Write], *, replace: bool) -> None:
        """Store writes beside a checkpoint; of one task and place, the first stays, or the last with `replace`."""
        self._connection.executemany(
            f"INSERT OR {'REPLACE' if replace else 'IGNORE'} INTO"
            " graph_writes(thread, ns, id, path, task, place, channel, type, value) VALUES(?,?,?,?,?,?,?,?,?)",
            ((*place, *write) for write in writes),
        )

    def latest(self, thread: str, ns: str) -> StoredCheckpoint | None:
        """Return the checkpoint that was stored last."""
        return next(iter(self._select("thread=? AND ns=? ORDER BY seq DESC LIMIT 1", thread, ns)), None)

    def get(self, place: Place) -> StoredCheckpoint | None:
        """Return the checkpoint that is stored here."""
        return next(iter(self._select("thread=? AND ns=? AND id=?", *place)), None)

    def values(self, checkpoint: StoredCheckpoint) -> dict[str, Typed]:
        """Return the values of a checkpoint, by channel."""
        found = self._all(
            "SELECT v.channel, b.type, b.value FROM graph_values AS v JOIN graph_blobs AS b ON b.id=v.blob_id"
            " WHERE v.checkpoint=?",
            checkpoint.seq,
        )
        return {channel: (form, value) for channel, form, value in found}

    def writes(self, place: Place) -> list[Write]:
        """Return the writes that wait beside a checkpoint, in order."""
        columns = ", ".join(Write._fields)
        sql = f"SELECT {columns} FROM graph_writes WHERE thread=? AND ns=? AND id=? ORDER BY path, task, place"
        return list(map(Write._make, self._all(sql, *place)))

    def page(self, wanted: Mapping[str, str], before: int | None, limit: int) -> list[StoredCheckpoint]:
        """Return checkpoints, the latest first, from before a seq; all with the limit -1.

        `wanted` holds any of thread, ns and id.
        """
        conditions = [f"{column}=?" for column in ("thread", "ns", "id") if column in wanted]
        values: list[Any] = [wanted[column] for column in ("thread", "ns", "id") if column in wanted]
        if before is not None:
            conditions.append("seq<?")
            values.append(before)
        return self._select(f"{' AND '.join(conditions) or '1'} ORDER BY seq DESC LIMIT ?", *values, limit)

    def of_runs(self, runs: Sequence[str]) -> list[StoredCheckpoint]:
        """Return the checkpoints of these runs."""
        return [one for run in runs for one in self._select("run=?", run)]

    def delete(self, checkpoints: Sequence[StoredCheckpoint]) -> None:
        """Delete checkpoints with their writes, and the values that no other one has."""
        threads = {one.thread for one in checkpoints}
        for one in checkpoints:
            self._all("DELETE FROM graph_values WHERE checkpoint=?", one.seq)
            self._all("DELETE FROM graph_writes WHERE thread=? AND ns=? AND id=?", *one.place)
            self._all("DELETE FROM graph_checkpoints WHERE seq=?", one.seq)
        for thread in threads:
            self._drop_unused(thread)

    def delete_thread(self, thread: str) -> None:
        """Delete all checkpoints and writes of a thread."""
        for table, condition in _OF_THREAD:
            self._all(f"DELETE FROM {table} WHERE {condition}", thread)

    def copy_thread(self, source: str, target: str) -> None:
        """Copy all checkpoints and writes of a thread into another one, in their order."""
        for one in self._select("thread=? ORDER BY seq", source):
            checkpoint, metadata = (one.type, one.checkpoint), (one.metadata_type, one.metadata)
            place = one.place._replace(thread=target)
            self.put(place, one.parent, one.run, checkpoint, metadata, self.values(one))
        columns = "ns, id, path, task, place, channel, type, value"
        self._all(
            f"INSERT OR IGNORE INTO graph_writes(thread, {columns})"
            f" SELECT ?, {columns} FROM graph_writes WHERE thread=?",
            target,
            source,
        )

    def _blob(self, thread: str, type: str, value: bytes) -> int:
        digest = hashlib.blake2b(type.encode() + b"\0" + value, digest_size=16).digest()
        found = self._all("SELECT id FROM graph_blobs WHERE thread=? AND hash=?", thread, digest)
        sql = "INSERT INTO graph_blobs(thread, hash, type, value) VALUES(?,?,?,?) RETURNING id"
        return int((found or self._all(sql, thread, digest, type, value))[0][0])

    def _drop_unused(self, thread: str) -> None:
        unused = "NOT EXISTS (SELECT 1 FROM graph_values WHERE blob_id=graph_blobs.id)"
        self._all(f"DELETE FROM graph_blobs WHERE thread=? AND {unused}", thread)

    def _select(self, condition: str, *values: Any) -> list[StoredCheckpoint]:
        columns = ", ".join(StoredCheckpoint._fields)
        sql = f"SELECT {columns} FROM graph_checkpoints WHERE {condition}"
        return list(map(StoredCheckpoint._make, self._all(sql, *values)))

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()


def erase(connection: apsw.Connection, scope_key: str, traces: Traces) -> int:
    """Delete the threads whose id is a scope key, or whose sessions have it; return how many checkpoints.

    `traces` is told what they held.
    """
    if not TABLES.are_in(connection):
        return 0
    threads = {scope_key, scope_key.removeprefix("session:")}
    return sum(
        [erase_rows(connection, table, condition, thread, traces) for table, condition in _OF_THREAD][-1]
        for thread in threads
    )
