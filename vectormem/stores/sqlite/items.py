"""Items in a SQLite database: one row an item, every change one write transaction."""

from collections.abc import Callable, Sequence

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.index.vectors import Wanted
from vectormem.stores.rows import Found, Rows, T, VectorKind, VectorStore
from vectormem.stores.sqlite.item_search import SqliteSearch
from vectormem.stores.sqlite.recording import changing_rows
from vectormem.stores.sqlite.rows import SqlRows
from vectormem.stores.sqlite.store import SqliteStore


class SqliteItems(VectorStore):
    """The memory tables of a `SqliteStore`; `owned` says whether closing this closes the store."""

    def __init__(self, store: SqliteStore, *, owned: bool) -> None:
        self._store = store
        self._owned = owned
        self._search = SqliteSearch(store)

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        def look(connection: apsw.Connection) -> T:
            return work(SqlRows(connection, scope_key))

        if brief and self._store.reads_never_wait:
            return self._store.read(look)
        return await run_in_thread(self._store.read, look)

    async def search(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> Found:
        return await self._search.find(scope_key, kind, wanted)

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        def apply(connection: apsw.Connection) -> T:
            rows = changing_rows(connection, scope_key, self._store.recorded)
            result = work(rows)
            rows.finish()
            return result

        return await run_in_thread(self._store.write, apply)

    async def scope_keys(self) -> Sequence[str]:
        return await run_in_thread(self._store.read, _scope_keys)

    async def aclose(self) -> None:
        if self._owned:
            await self._store.aclose()


def _scope_keys(connection: apsw.Connection) -> list[str]:
    found = connection.execute("SELECT key FROM memory_keys WHERE items>0 ORDER BY key")
    return [key for (key,) in found]
