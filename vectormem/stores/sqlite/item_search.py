"""Nearest vectors of a key in a database, with the rows that they belong to."""

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.index.vectors import INLINE_COST, Wanted
from vectormem.stores.rows import BRIEF, Found, VectorKind
from vectormem.stores.sqlite.rows import SqlRows
from vectormem.stores.sqlite.search import KeySearch, NotInlineError
from vectormem.stores.sqlite.store import SqliteStore
from vectormem.stores.sqlite.vectors import SqlVectors


class SqliteSearch:
    """The search over the items of one store: a small one runs in the event loop, others in a thread."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._search = KeySearch(store, _open_key)

    async def find(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> Found:
        """Return the rows of the nearest vectors with their scores, best first."""
        if self._is_quick(scope_key, kind, wanted):
            try:
                return self._find(scope_key, kind, wanted, inline=True)
            except NotInlineError:
                pass
        return await run_in_thread(self._find, scope_key, kind, wanted, inline=False)

    def _is_quick(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> bool:
        entry = self._store.cache.peek(scope_key, kind)
        index = None if entry is None else entry.index
        few = wanted.limit is not None and wanted.limit <= BRIEF
        if index is None or not few or not self._store.reads_never_wait:
            return False
        return index.cost <= INLINE_COST and index.can_answer(wanted)

    def _find(self, scope_key: str, kind: VectorKind, wanted: Wanted, *, inline: bool) -> Found:
        def work(connection: apsw.Connection) -> Found:
            rows, vectors = _open_key(connection, scope_key, kind)
            hits, compared = self._search.nearest(rows, vectors, wanted, inline=inline)
            scores = dict(hits)
            ranked = [(row, scores[row.seq]) for row in rows.by_seq(list(scores))]
            return Found(ranked, rows.count() - compared)

        return self._search.read(work)


def _open_key(connection: apsw.Connection, scope_key: str, kind: VectorKind) -> tuple[SqlRows, SqlVectors]:
    rows = SqlRows(connection, scope_key)
    return rows, SqlVectors(connection, rows.key_id, kind)
