"""Conversations of agents in a SQLite database: a log of entries, and records that point into it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import apsw

from vectormem.stores.sqlite.added_tables import AddedTables
from vectormem.stores.sqlite.database import Database
from vectormem.stores.sqlite.erased_rows import erase_rows
from vectormem.stores.traces import Traces

TABLES = AddedTables(
    table="pydantic_ai_pauses",
    script="""
CREATE TABLE IF NOT EXISTS pydantic_ai_conversations (
    id INTEGER PRIMARY KEY,
    scope_key TEXT NOT NULL,
    name TEXT NOT NULL,
    scope TEXT,
    head TEXT,                    -- the newest entry
    revision TEXT NOT NULL,
    updated_at INTEGER NOT NULL,  -- microseconds since 1970, UTC
    record TEXT NOT NULL,         -- JSON
    UNIQUE (scope_key, name)
);
CREATE INDEX IF NOT EXISTS pydantic_ai_conversations_by_time ON pydantic_ai_conversations(scope_key, updated_at);
CREATE INDEX IF NOT EXISTS pydantic_ai_conversations_by_head ON pydantic_ai_conversations(scope_key, head);
CREATE TABLE IF NOT EXISTS pydantic_ai_branches (
    scope_key TEXT NOT NULL,
    entry TEXT NOT NULL,          -- the newest entry of a branch that the conversation has left
    conversation INTEGER NOT NULL REFERENCES pydantic_ai_conversations(id),
    PRIMARY KEY (scope_key, entry, conversation)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pydantic_ai_branches_by_conversation ON pydantic_ai_branches(conversation);
CREATE TABLE IF NOT EXISTS pydantic_ai_entries (
    scope_key TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    message TEXT NOT NULL,        -- JSON
    PRIMARY KEY (scope_key, id)
);
CREATE INDEX IF NOT EXISTS pydantic_ai_entries_by_parent ON pydantic_ai_entries(scope_key, parent);
CREATE TABLE IF NOT EXISTS pydantic_ai_pauses (
    scope_key TEXT NOT NULL,
    run TEXT NOT NULL,
    conversation TEXT NOT NULL,
    snapshot TEXT NOT NULL,       -- JSON
    PRIMARY KEY (scope_key, run)
);
CREATE INDEX IF NOT EXISTS pydantic_ai_pauses_by_conversation ON pydantic_ai_pauses(scope_key, conversation);
""",
)

_LINE = """
WITH RECURSIVE line(id, parent, message, depth) AS (
    SELECT id, parent, message, 1 FROM pydantic_ai_entries WHERE scope_key=:scope_key AND id=:head
    UNION ALL
    SELECT entry.id, entry.parent, entry.message, depth + 1 FROM line
    JOIN pydantic_ai_entries AS entry ON entry.scope_key=:scope_key AND entry.id=line.parent
    WHERE depth < :limit
)
SELECT id, parent, message FROM line ORDER BY depth DESC
"""

_IS_USED = """
SELECT EXISTS (SELECT 1 FROM pydantic_ai_entries WHERE scope_key=:scope_key AND parent=:entry)
    OR EXISTS (SELECT 1 FROM pydantic_ai_conversations WHERE scope_key=:scope_key AND head=:entry)
    OR EXISTS (SELECT 1 FROM pydantic_ai_branches WHERE scope_key=:scope_key AND entry=:entry)
"""

_WRITE = """
INSERT INTO pydantic_ai_conversations(scope_key, name, scope, head, revision, updated_at, record)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_key, name) DO UPDATE SET
    scope=excluded.scope, head=excluded.head, revision=excluded.revision,
    updated_at=excluded.updated_at, record=excluded.record
RETURNING id
"""

T = TypeVar("T")

_NO_LIMIT = -1
_LONGEST_LINE = 2**62


class ConversationRow(NamedTuple):
    """A conversation: where its log ends, and its whole record as JSON."""

    name: str
    scope: str | None
    head: str | None
    revision: str
    updated_at: int
    record: str


class EntryRow(NamedTuple):
    """A message as JSON, and the entry before it."""

    id: str
    parent: str | None
    message: str


class SqliteConversationRows:
    """The conversations of one scope key. All methods block."""

    def __init__(self, store: Database, scope_key: str) -> None:
        self._store = store
        self._scope_key = scope_key

    def record(self, name: str) -> str | None:
        """Return the record of a conversation."""

        def work(connection: apsw.Connection) -> str | None:
            sql = "SELECT record FROM pydantic_ai_conversations WHERE scope_key=? AND name=?"
            record: str | None = connection.execute(sql, (self._scope_key, name)).get
            return record

        return self._read(work)

    def records(self, scope: str | None, limit: int | None) -> list[str]:
        """Return records, the latest first; with `scope`, those of it."""

        def work(connection: apsw.Connection) -> list[str]:
            sql = (
                "SELECT record FROM pydantic_ai_conversations"
                " WHERE scope_key=:scope_key AND (:scope IS NULL OR scope=:scope)"
                " ORDER BY updated_at DESC, revision DESC LIMIT :limit"
            )
            most = _NO_LIMIT if limit is None else limit
            bindings = {"scope_key": self._scope_key, "scope": scope, "limit": most}
            return [record for (record,) in connection.execute(sql, bindings)]

        return self._read(work)

    def write(
        self, row: ConversationRow, branches: Sequence[str], entries: Sequence[EntryRow], expected: str | None
    ) -> bool:
        """Store a conversation with its new entries; False, and nothing is changed, where another came first.

        That is: the stored revision is not the expected one, or the head is neither stored nor new.
        """

        def work(connection: apsw.Connection) -> bool:
            if self._revision(connection, row.name) != expected:
                return False
            if row.head not in {None, *(entry.id for entry in entries)} and not self._entry(connection, row.head):
                return False
            self._insert_entries(connection, entries)
            bound = (self._scope_key, *row)
            conversation = connection.execute(_WRITE, bound).get
            connection.execute("DELETE FROM pydantic_ai_branches WHERE conversation=?", (conversation,))
            connection.executemany(
                "INSERT OR IGNORE INTO pydantic_ai_branches(scope_key, entry, conversation) VALUES (?, ?, ?)",
                [(self._scope_key, entry, conversation) for entry in branches],
            )
            return True

        return self._write(work)

    def delete(self, name: str, revision: str) -> bool:
        """Delete a conversation, the entries that no other one uses, and what its paused runs had recalled.

        Return False, and change nothing, where its revision is another.
        """

        def work(connection: apsw.Connection) -> bool:
            if self._revision(connection, name) != revision:
                return False
            key = (self._scope_key, name)
            number, head = connection.execute(
                "SELECT id, head FROM pydantic_ai_conversations WHERE scope_key=? AND name=?", key
            ).get
            found = connection.execute("SELECT entry FROM pydantic_ai_branches WHERE conversation=?", (number,))
            ends = [head, *(entry for (entry,) in found)]
            connection.execute("DELETE FROM pydantic_ai_branches WHERE conversation=?", (number,))
            connection.execute("DELETE FROM pydantic_ai_conversations WHERE id=?", (number,))
            connection.execute("DELETE FROM pydantic_ai_pauses WHERE scope_key=? AND conversation=?", key)
            for end in ends:
                self._release(connection, end)
            return True

        return self._write(work)

    def history(self, head: str, limit: int | None) -> list[EntryRow]:
        """Return the entries up to `head`, oldest first; with `limit`, the last ones. LookupError where one is gone."""
        most = _LONGEST_LINE if limit is None else limit

        def work(connection: apsw.Connection) -> list[EntryRow]:
            bindings = {"scope_key": self._scope_key, "head": head, "limit": most}
            return [EntryRow(*found) for found in connection.execute(_LINE, bindings)]

        line: list[EntryRow] = self._read(work)
        if not line or (len(line) < most and line[0].parent is not None):
            raise LookupError(f"the conversation log has no entry {line[0].parent if line else head!r}")
        return line

    def keep_pause(self, name: str, run: str, snapshot: str) -> None:
        """Store what a run of the conversation had recalled when it paused."""
        sql = "INSERT OR REPLACE INTO pydantic_ai_pauses(scope_key, run, conversation, snapshot) VALUES (?, ?, ?, ?)"
        bound = (self._scope_key, run, name, snapshot)
        self._write(lambda connection: connection.execute(sql, bound).get)

    def pause(self, run: str) -> str | None:
        """Return what was stored for a paused run."""
        sql, bound = "SELECT snapshot FROM pydantic_ai_pauses WHERE scope_key=? AND run=?", (self._scope_key, run)

        def work(connection: apsw.Connection) -> str | None:
            snapshot: str | None = connection.execute(sql, bound).get
            return snapshot

        return self._read(work)

    def drop_pause(self, run: str) -> None:
        """Delete what was stored for a paused run."""
        sql, bound = "DELETE FROM pydantic_ai_pauses WHERE scope_key=? AND run=?", (self._scope_key, run)
        self._write(lambda connection: connection.execute(sql, bound).get)

    def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        return self._store.read(lambda connection: work(TABLES.seen_in(connection)))

    def _write(self, work: Callable[[apsw.Connection], T]) -> T:
        return self._store.write(lambda connection: work(TABLES.made_in(connection)))

    def _revision(self, connection: apsw.Connection, name: str) -> str | None:
        sql = "SELECT revision FROM pydantic_ai_conversations WHERE scope_key=? AND name=?"
        revision: str | None = connection.execute(sql, (self._scope_key, name)).get
        return revision

    def _entry(self, connection: apsw.Connection, id: str | None) -> bool:
        sql = "SELECT 1 FROM pydantic_ai_entries WHERE scope_key=? AND id=?"
        return connection.execute(sql, (self._scope_key, id)).get is not None

    def _insert_entries(self, connection: apsw.Connection, entries: Sequence[EntryRow]) -> None:
        connection.executemany(
            "INSERT INTO pydantic_ai_entries(scope_key, id, parent, message) VALUES (?, ?, ?, ?)",
            [(self._scope_key, *entry) for entry in entries],
        )

    def _release(self, connection: apsw.Connection, entry: str | None) -> None:
        """Delete entries from the end of a line towards its start, up to one that something else needs."""
        bindings = {"scope_key": self._scope_key, "entry": entry}
        while bindings["entry"] is not None and not connection.execute(_IS_USED, bindings).get:
            sql = "DELETE FROM pydantic_ai_entries WHERE scope_key=:scope_key AND id=:entry RETURNING parent"
            bindings["entry"] = connection.execute(sql, bindings).get


def erase(connection: apsw.Connection, scope_key: str, traces: Traces) -> int:
    """Delete the conversations of a scope key, having told `traces` what they held; return how many messages."""
    if not TABLES.are_in(connection):
        return 0
    tables = ("pydantic_ai_branches", "pydantic_ai_conversations", "pydantic_ai_pauses", "pydantic_ai_entries")
    return [erase_rows(connection, table, "scope_key=?", scope_key, traces) for table in tables][-1]
