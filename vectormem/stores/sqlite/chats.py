"""Chats in a SQLite database: every change one write transaction."""

from collections.abc import Callable

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.stores.chats import ChatFound, ChatQuery, ChatRows, ChatStore, T
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.chat_rows import SqlChatRows
from vectormem.stores.sqlite.chat_search import search
from vectormem.stores.sqlite.store import SqliteStore


class SqliteChats(ChatStore):
    """The chat tables of a `SqliteStore`; `owned` says whether closing this closes the store."""

    def __init__(self, store: SqliteStore, *, owned: bool) -> None:
        self._store = store
        self._owned = owned

    async def read(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        return await run_in_thread(self._store.read, lambda connection: work(SqlChatRows(connection, scope_key)))

    async def change(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        def apply(connection: apsw.Connection) -> T:
            rows = SqlChatRows(connection, scope_key)
            result = work(rows)
            rows.finish()
            if rows.has_deleted:
                self._store.note_deletion()
            return result

        return await run_in_thread(self._store.write, apply)

    async def search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        return await run_in_thread(self._search, scope_key, kind, shortest, query)

    async def aclose(self) -> None:
        if self._owned:
            await self._store.aclose()

    def _search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        def work(connection: apsw.Connection) -> ChatFound:
            with self._store.cache.use(scope_key, ("chats", kind)) as entry:
                # the read sees its state of the file from here on, so the index is never ahead of it
                found = search(SqlChatRows(connection, scope_key), entry, kind, query, shortest)
                if entry.nbytes > self._store.cache.budget:
                    entry.set(None)
                return found

        return self._store.read(work)
