"""The transcripts of sessions in a SQLite database: JSON texts in order, every change one write transaction."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.stores.sqlite.store import SqliteStore

T = TypeVar("T")

_TABLE = """
    CREATE TABLE IF NOT EXISTS session_items (
        scope_key TEXT NOT NULL,
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,         -- order of insertion in the session
        item TEXT NOT NULL,           -- JSON
        PRIMARY KEY (scope_key, session_id, seq)
    ) WITHOUT ROWID
"""
_SESSION = "scope_key=? AND session_id=?"


class SessionRows:
    """The items of one session, on a connection in a transaction. The table is made by the first change."""

    def __init__(self, connection: apsw.Connection, scope_key: str, session_id: str) -> None:
        self._connection = connection
        self._session = (scope_key, session_id)

    def newest(self, limit: int | None = None) -> list[str]:
        """Return the newest `limit` items (None: all), oldest first."""
        if not self._is_there():
            return []
        most = -1 if limit is None else limit
        sql = f"SELECT item FROM session_items WHERE {_SESSION} ORDER BY seq DESC LIMIT ?"
        return [item for (item,) in self._connection.execute(sql, (*self._session, most))][::-1]

    def append(self, items: Sequence[str]) -> None:
        """Add items behind the others, in this order."""
        self._connection.execute(_TABLE)
        last = self._last_seq() or 0
        self._connection.executemany(
            "INSERT INTO session_items VALUES (?, ?, ?, ?)",
            [(*self._session, last + place, item) for place, item in enumerate(items, start=1)],
        )

    def pop(self) -> str | None:
        """Delete the newest item and return it; None where there is none."""
        if not self._is_there() or (last := self._last_seq()) is None:
            return None
        sql = f"DELETE FROM session_items WHERE {_SESSION} AND seq=? RETURNING item"
        [(item,)] = list(self._connection.execute(sql, (*self._session, last)))
        return str(item)

    def clear(self) -> None:
        """Delete all items of the session."""
        if self._is_there():
            self._connection.execute(f"DELETE FROM session_items WHERE {_SESSION}", self._session)

    def _is_there(self) -> bool:
        found = self._connection.execute("SELECT 1 FROM sqlite_master WHERE type='table' AND name='session_items'")
        return found.fetchone() is not None

    def _last_seq(self) -> int | None:
        found = self._connection.execute(f"SELECT max(seq) FROM session_items WHERE {_SESSION}", self._session)
        [(last,)] = list(found)
        return None if last is None else int(last)


class SqliteSession:
    """One session of a `SqliteStore`."""

    def __init__(self, store: SqliteStore, scope_key: str, session_id: str) -> None:
        self._store = store
        self._names = (scope_key, session_id)

    async def read(self, work: Callable[[SessionRows], T]) -> T:
        """Return `work(rows)` on one consistent state of the session; `work` changes nothing."""
        return await run_in_thread(self._store.read, lambda connection: work(SessionRows(connection, *self._names)))

    async def change(self, work: Callable[[SessionRows], T]) -> T:
        """Return `work(rows)`; all that it changed is stored together, or nothing where it fails."""
        return await run_in_thread(self._store.write, lambda connection: work(SessionRows(connection, *self._names)))
