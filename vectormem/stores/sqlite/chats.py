"""Chats in a SQLite database: every change one write transaction."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.stores.chat_rows import Database, SqlChatRows
from vectormem.stores.chat_search import search
from vectormem.stores.chats import ChatFound, ChatQuery, ChatRows, ChatStore, T
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.store import SqliteStore


class SqliteDatabase(Database):
    """A connection in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def query(self, sql: str, *values: Any) -> Iterable[Any]:
        return self._connection.execute(sql, values)

    def run(self, sql: str, *values: Any) -> None:
        self._connection.execute(sql, values)

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(sql, rows)


class SqliteChats(ChatStore):
    """The chat tables of a `SqliteStore`; `owned` says whether closing this closes the store."""

    def __init__(self, store: SqliteStore, *, owned: bool) -> None:
        self._store = store
        self._owned = owned

    async def read(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        return await run_in_thread(self._store.read, lambda connection: work(_rows(connection, scope_key)))

    async def change(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        def apply(connection: apsw.Connection) -> T:
            rows = _rows(connection, scope_key)
            result = work(rows)
            rows.finish()
            return result

        return await run_in_thread(self._store.write, apply)

    async def search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        return await run_in_thread(self._search, scope_key, kind, shortest, query)

    async def scope_keys(self) -> Sequence[str]:
        def look(connection: apsw.Connection) -> list[str]:
            return [key for (key,) in connection.execute("SELECT key FROM chat_keys ORDER BY key")]

        return await run_in_thread(self._store.read, look)

    async def aclose(self) -> None:
        if self._owned:
            await self._store.aclose()

    def _search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        def work(connection: apsw.Connection) -> ChatFound:
            with self._store.cache.use(scope_key, ("chats", kind)) as entry:
                # the read sees its state of the file from here on, so the index is never ahead of it
                found = search(_rows(connection, scope_key), entry, kind, query, shortest)
                if entry.nbytes > self._store.cache.budget:
                    entry.set(None)
                return found

        return self._store.read(work)


def _rows(connection: apsw.Connection, scope_key: str) -> SqlChatRows:
    return SqlChatRows(SqliteDatabase(connection), scope_key)
