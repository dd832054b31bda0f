"""Items in a Postgres database: one row an item, every change one transaction."""

from collections.abc import Callable, Sequence

from vectormem.index.vectors import Wanted
from vectormem.stores.postgres.connection import Connection
from vectormem.stores.postgres.rows import PostgresRows
from vectormem.stores.postgres.search import search
from vectormem.stores.postgres.store import PostgresStore
from vectormem.stores.postgres.transaction import lock
from vectormem.stores.rows import Found, Rows, T, VectorKind, VectorStore


class PostgresItems(VectorStore):
    """The memory tables of a `PostgresStore`; `owned` says whether closing this closes the store."""

    def __init__(self, store: PostgresStore, *, owned: bool) -> None:
        self._store = store
        self._owned = owned

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        return await self._store.run(self._store.read, lambda connection: work(PostgresRows(connection, scope_key)))

    async def search(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> Found:
        def look(connection: Connection) -> Found:
            return search(connection, PostgresRows(connection, scope_key), kind, wanted, self._store.indexes)

        return await self._store.run(self._store.read, look)

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        def apply(connection: Connection) -> T:
            lock(connection, "memory_keys", scope_key)
            rows = PostgresRows(connection, scope_key)
            result = work(rows)
            rows.finish()
            return result

        return await self._store.run(self._store.write, apply)

    async def scope_keys(self) -> Sequence[str]:
        return await self._store.run(self._store.read, _scope_keys)

    async def aclose(self) -> None:
        if self._owned:
            await self._store.aclose()


def _scope_keys(connection: Connection) -> list[str]:
    return [key for (key,) in connection.query("SELECT key FROM memory_keys WHERE items>0 ORDER BY key", ())]
