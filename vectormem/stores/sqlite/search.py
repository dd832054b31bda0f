"""Nearest vectors of a key in a database: from memory where they are loaded, in SQL where not yet."""

import threading
from contextlib import suppress

import apsw

from vectormem.concurrency import run_in_thread
from vectormem.errors import StorageFailedError
from vectormem.index.search import Hit
from vectormem.index.vectors import INLINE_COST, VectorIndex, Wanted
from vectormem.stores.cache import CachedIndex, State
from vectormem.stores.rows import BRIEF, Found, VectorKind
from vectormem.stores.sqlite.rows import SqlRows
from vectormem.stores.sqlite.scan import scan
from vectormem.stores.sqlite.store import SqliteStore
from vectormem.stores.sqlite.vectors import SqlVectors

_LOADED_AT_ONCE = 500
_LOADED_IN_PLACE = 10_000
_QUERIES_BEFORE_LOADING = 2
_MOST_INLINE_CHANGES = 100
_MOST_REREADS = 3


class _BehindError(Exception):
    """This read began before a change that the index in memory already reflects."""


class _NotInlineError(Exception):
    """The search has more to do than fits into the event loop."""


class SqliteSearch:
    """The search over the vectors of one store.

    The first query of a key is answered in SQL, unless loading the key is as quick. When queries come
    again, the key is loaded, a large one in the background. A loaded index takes in what changed in the
    file before each search.
    """

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    async def find(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> Found:
        """Return the rows of the nearest vectors with their scores, best first."""
        if self._is_quick(scope_key, kind, wanted):
            try:
                return self._find(scope_key, kind, wanted, inline=True)
            except _NotInlineError:
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
            rows = SqlRows(connection, scope_key)
            hits, compared = self._nearest(rows, SqlVectors(connection, rows.key_id, kind), wanted, inline=inline)
            scores = dict(hits)
            ranked = [(row, scores[row.seq]) for row in rows.by_seq(list(scores))]
            return Found(ranked, rows.count() - compared)

        for _ in range(_MOST_REREADS):
            with suppress(_BehindError):
                return self._store.read(work)
        with self._store.cache.use(scope_key, kind) as entry:
            entry.set(None)  # the file itself went back, to a copy that was put in its place
        return self._store.read(work)

    def _nearest(self, rows: SqlRows, vectors: SqlVectors, wanted: Wanted, *, inline: bool) -> tuple[list[Hit], int]:
        with self._store.cache.use(rows.scope_key, vectors.kind) as entry:
            self._follow(entry, rows, vectors, inline=inline)
            if entry.index is None:
                self._warm_up(entry, rows, vectors)
            if entry.index is not None and entry.index.can_answer(wanted):
                return entry.index.nearest(wanted, vectors.of), len(entry.index)
        hits = scan(vectors, wanted)
        is_full = wanted.limit is not None and len(hits) == wanted.limit
        return hits, rows.count() if is_full else vectors.count()

    def _follow(self, entry: CachedIndex, rows: SqlRows, vectors: SqlVectors, *, inline: bool) -> None:
        """Bring the index up to the version that this read sees, or drop it where the changes are not known."""
        index, old, new = entry.index, entry.state, rows.state
        if index is not None and old == new:
            return
        if inline and (index is None or new.last_seq - old.last_seq > _MOST_INLINE_CHANGES):
            raise _NotInlineError
        if index is None:
            return
        if old.key_id == new.key_id and old.version > new.version:
            raise _BehindError
        entry.set(None)  # until all changes are in, and where they are not known
        if old.key_id != new.key_id or old.version < rows.log_start:
            return
        changed = rows.changed_since(old.version)
        index.remove(changed)
        index.append(*vectors.of([seq for seq in changed if seq <= old.last_seq]))
        for seqs, matrix in vectors.after(old.last_seq):
            index.append(seqs, matrix)
        if not index.is_worn:
            entry.set(index, new)

    def _load(self, rows: SqlRows, vectors: SqlVectors) -> VectorIndex:
        fits = rows.count() * vectors.kind.dimensions * 4 <= self._store.cache.budget
        index = VectorIndex(vectors.kind.dimensions, keeps_vectors=fits)
        index.reserve(rows.count())
        for seqs, matrix in vectors.after(0):
            index.append(seqs, matrix)
        return index

    def _warm_up(self, entry: CachedIndex, rows: SqlRows, vectors: SqlVectors) -> None:
        """Load the key where that is quick, or once queries have shown that it is in use."""
        entry.cold_queries += 1
        if entry.cold_queries < _QUERIES_BEFORE_LOADING and rows.count() > _LOADED_AT_ONCE:
            return
        if rows.count() <= _LOADED_IN_PLACE:
            entry.set(self._load(rows, vectors), rows.state)
        elif not entry.is_loading:
            entry.is_loading = True
            load, args = self._load_in_background, (entry, rows.scope_key, vectors.kind)
            threading.Thread(target=load, args=args, name="vectormem-load", daemon=True).start()

    def _load_in_background(self, entry: CachedIndex, scope_key: str, kind: VectorKind) -> None:
        def work(connection: apsw.Connection) -> tuple[VectorIndex, State]:
            rows = SqlRows(connection, scope_key)
            index = self._load(rows, SqlVectors(connection, rows.key_id, kind))
            index.prepare()
            return index, rows.state

        try:
            with suppress(StorageFailedError):  # closed meanwhile, or a fault that the next query meets and reports
                loaded = self._store.read(work)
                with self._store.cache.use(scope_key, kind) as current:
                    if current.index is None:
                        current.set(*loaded)
        finally:
            entry.is_loading = False
