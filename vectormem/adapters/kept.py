"""What adapters that keep rows of their own have in common: a store that was given, or one of their own."""

import os
from typing import Self

from vectormem.concurrency import run_in_thread
from vectormem.stores.sqlite.store import SqliteStore


class KeptInSqlite:
    """Keeps rows in a `SqliteStore`, or in the file at a path, which is opened, and closed with this."""

    _store: SqliteStore
    _owned: bool

    def close(self) -> None:
        """Close the file where a path was given; a store that was passed in stays open."""
        if self._owned:
            self._store.close()

    async def aclose(self) -> None:
        """Close as `close` does, without blocking the event loop."""
        await run_in_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _keep_in(self, store: SqliteStore | str | os.PathLike[str]) -> None:
        self._owned = not isinstance(store, SqliteStore)
        self._store = store if isinstance(store, SqliteStore) else SqliteStore(store)
