"""The transcripts of sessions in a SQLite database: JSON texts in order, every change one write transaction."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.stores.sqlite.added_tables import AddedTables
from vectormem.stores.sqlite.database import Database
from vectormem.stores.sqlite.erased_rows import erase_rows
from vectormem.stores.traces import Traces

T = TypeVar("T")

TABLES = AddedTables(
    table="session_items",
    script="""
CREATE TABLE IF NOT EXISTS session_items (
    scope_key TEXT NOT NULL,
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,         -- order of insertion in the session
    item TEXT NOT NULL,           -- JSON
    PRIMARY KEY (scope_key, session_id, seq)
) WITHOUT ROWID;
""",
)
_SESSION = "scope_key=? AND session_id=?"


class SessionRows:
    """The items of one session, on a connection in a transaction."""

    def __init__(self, connection: apsw.Connection, scope_key: str, session_id: str) -> None:
        self._connection = connection
        self._session = (scope_key, session_id)

    def newest(self, limit: int | None = None) -> list[str]:
        """Return the newest `limit` items (None: all), oldest first."""
        most = -1 if limit is None else limit
        sql = f"SELECT item FROM session_items WHERE {_SESSION} ORDER BY seq DESC LIMIT ?"
        return [item for (item,) in self._connection.execute(sql, (*self._session, most))][::-1]

    def append(self, items: Sequence[str]) -> None:
        """Add items behind the others, in this order."""
        last = self._last_seq() or 0
        self._connection.executemany(
            "INSERT INTO session_items VALUES (?, ?, ?, ?)",
            [(*self._session, last + place, item) for place, item in enumerate(items, start=1)],
        )

    def pop(self) -> str | None:
        """Delete the newest item and return it; None where there is none."""
        if (last := self._last_seq()) is None:
            return None
        sql = f"DELETE FROM session_items WHERE {_SESSION} AND seq=? RETURNING item"
        [(item,)] = list(self._connection.execute(sql, (*self._session, last)))
        return str(item)

    def clear(self) -> None:
        """Delete all items of the session."""
        self._connection.execute(f"DELETE FROM session_items WHERE {_SESSION}", self._session)

    def _last_seq(self) -> int | None:
        found = self._connection.execute(f"SELECT max(seq) FROM session_items WHERE {_SESSION}", self._session)
        [(last,)] = list(found)
        return None if last is None else int(last)


class SqliteSession:
    """One session of a database."""

    def __init__(self, store: Database, scope_key: str, session_id: str) -> None:
        self._store = store
        self._names = (scope_key, session_id)

    async def read(self, work: Callable[[SessionRows], T]) -> T:
        """Return `work(rows)` on one consistent state of the session; `work` changes nothing."""

        def look(connection: apsw.Connection) -> T:
            return work(SessionRows(TABLES.seen_in(connection), *self._names))

        return await run_in_thread(self._store.read, look)

    async def change(self, work: Callable[[SessionRows], T]) -> T:
        """Return `work(rows)`; all that it changed is stored together, or nothing where it fails."""

        def apply(connection: apsw.Connection) -> T:
            return work(SessionRows(TABLES.made_in(connection), *self._names))

        return await run_in_thread(self._store.write, apply)


def erase(connection: apsw.Connection, scope_key: str, traces: Traces) -> int:
    """Delete the sessions of a scope key, having told `traces` what they held; return how many items there were."""
    if not TABLES.are_in(connection):
        return 0
    return erase_rows(connection, "session_items", "scope_key=?", scope_key, traces)
