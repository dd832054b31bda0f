"""What adapters that keep rows of their own have in common: a store that was given, or one of their own."""

import os

from vectormem.concurrency import Closable
from vectormem.stores.sqlite.store import SqliteStore


class KeptInSqlite(Closable):
    """Keeps rows in a `SqliteStore`, or in the file at a path, which is opened, and closed with this."""

    _store: SqliteStore
    _owned: bool

    def close(self) -> None:
        """Close the file where a path was given; a store that was passed in stays open."""
        if self._owned:
            self._store.close()

    def _keep_in(self, store: SqliteStore | str | os.PathLike[str]) -> None:
        self._owned = not isinstance(store, SqliteStore)
        self._store = store if isinstance(store, SqliteStore) else SqliteStore(store)
