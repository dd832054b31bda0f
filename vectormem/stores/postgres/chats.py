"""Chats in a Postgres database: every change one transaction, searched in memory."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from vectormem.stores.chat_rows import Database, SqlChatRows
from vectormem.stores.chat_search import search
from vectormem.stores.chats import ChatFound, ChatQuery, ChatRows, ChatStore, T
from vectormem.stores.postgres.connection import Connection
from vectormem.stores.postgres.store import PostgresStore
from vectormem.stores.postgres.transaction import lock
from vectormem.stores.rows import VectorKind

_ROWS_AT_ONCE = 500


class PostgresDatabase(Database):
    """A connection in a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def query(self, sql: str, *values: Any) -> Iterable[Any]:
        return self._connection.query(_translated(sql), values)

    def run(self, sql: str, *values: Any) -> None:
        self._connection.execute(_translated(sql), values)

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        given, (head, _, one) = list(rows), _translated(sql).partition("VALUES")
        for start in range(0, len(given), _ROWS_AT_ONCE):
            chunk = given[start : start + _ROWS_AT_ONCE]
            values = [value for row in chunk for value in row]
            self._connection.execute(f"{head}VALUES{','.join([one] * len(chunk))}", values)


class PostgresChats(ChatStore):
    """The chat tables of a `PostgresStore`; `owned` says whether closing this closes the store."""

    def __init__(self, store: PostgresStore, *, owned: bool) -> None:
        self._store = store
        self._owned = owned

    async def read(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        def look(connection: Connection) -> T:
            return work(SqlChatRows(PostgresDatabase(connection), scope_key))

        return await self._store.run(self._store.read, look)

    async def change(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        def apply(connection: Connection) -> T:
            lock(connection, "chat_keys", scope_key)
            rows = SqlChatRows(PostgresDatabase(connection), scope_key)
            result = work(rows)
            rows.finish()
            return result

        return await self._store.run(self._store.write, apply)

    async def search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        return await self._store.run(self._search, scope_key, kind, shortest, query)

    async def scope_keys(self) -> Sequence[str]:
        def look(connection: Connection) -> list[str]:
            return [key for (key,) in connection.query("SELECT key FROM chat_keys ORDER BY key", ())]

        return await self._store.run(self._store.read, look)

    async def aclose(self) -> None:
        if self._owned:
            await self._store.aclose()

    def _search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        def work(connection: Connection) -> ChatFound:
            return search(SqlChatRows(PostgresDatabase(connection), scope_key), entry, kind, query, shortest)

        with self._store.cache.use(scope_key, ("chats", kind)) as entry:
            found = self._store.read(work)  # it begins here, so that the index is never ahead of what it sees
            if entry.nbytes > self._store.cache.budget:
                entry.set(None)
            return found


@lru_cache(maxsize=256)
def _translated(sql: str) -> str:
    """Return a statement as Postgres takes it; a CROSS JOIN with a condition, SQLite's hint, is a plain join."""
    return sql.replace("?", "%s").replace(" CROSS JOIN ", " JOIN ")
