"""The nearest vectors of a key in a database: from memory, following the file, or in SQL while the key is cold."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

import apsw

from vectormem.errors import StorageFailedError
from vectormem.index.search import Hit
from vectormem.index.vectors import VectorIndex, Wanted
from vectormem.stores.cache import CachedIndex, Name, State
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.scan import scan
from vectormem.stores.sqlite.store import SqliteStore
from vectormem.stores.sqlite.vectors import SqlVectors

T = TypeVar("T")

_LOADED_AT_ONCE = 500
_LOADED_IN_PLACE = 10_000
_QUERIES_BEFORE_LOADING = 2
_MOST_INLINE_CHANGES = 100
_MOST_REREADS = 3


class SearchedKey(Protocol):
    """A key as one read sees it. Vectors come with growing seqs; those deleted or replaced are in a log."""

    scope_key: str
    log_start: int

    @property
    def state(self) -> State:
        """What an index of the key has to reflect now."""
        ...

    def changed_since(self, version: int) -> list[int]:
        """Return the seqs of the vectors that were deleted or replaced after this version, from `log_start` on."""
        ...

    def count(self) -> int:
        """Return the number of rows, which is at least that of the vectors."""
        ...


class _BehindError(Exception):
    """This read began before a change that the index in memory already reflects."""

    def __init__(self, name: Name) -> None:
        self.name = name


class NotInlineError(Exception):
    """The search has more to do than fits into the event loop."""


class KeySearch:
    """The search over the vectors of a store's keys; `open_key` reads one of them.

    The first query of a key is answered in SQL, unless loading the key is as quick. When queries come
    again, the key is loaded, a large one in the background.
    """

    def __init__(
        self,
        store: SqliteStore,
        open_key: Callable[[apsw.Connection, str, VectorKind], tuple[SearchedKey, SqlVectors]],
    ) -> None:
        self._store = store
        self._open_key = open_key

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)`, on one state of the file that no index in memory is ahead of. It blocks."""
        return self._retried(lambda: self._store.read(work))

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` in one write transaction, where searches come before changes. It blocks."""
        return self._retried(lambda: self._store.write(work))

    def _retried(self, transaction: Callable[[], T]) -> T:
        name: Name | None = None
        for _ in range(_MOST_REREADS):
            try:
                return transaction()
            except _BehindError as error:
                name = error.name
        assert name is not None
        with self._store.cache.use(*name) as entry:
            entry.set(None)  # the file itself went back, to a copy that was put in its place
        return transaction()

    def nearest(
        self, key: SearchedKey, vectors: SqlVectors, wanted: Wanted, *, inline: bool = False
    ) -> tuple[list[Hit], int]:
        """Return the best vectors, best first, and how many were compared; inside `read` or a write.

        Raises NotInlineError where `inline` is asked for and there is more to do.
        """
        with self._store.cache.use(key.scope_key, vectors.kind) as entry:
            self._follow(entry, key, vectors, inline=inline)
            if entry.index is None:
                self._warm_up(entry, key, vectors)
            if entry.index is not None and entry.index.can_answer(wanted):
                return entry.index.nearest(wanted, vectors.of), len(entry.index)
        hits = scan(vectors, wanted)
        is_full = wanted.limit is not None and len(hits) == wanted.limit
        return hits, key.count() if is_full else vectors.count()

    def _follow(self, entry: CachedIndex, key: SearchedKey, vectors: SqlVectors, *, inline: bool) -> None:
        """Bring the index up to the version that this read sees, or drop it where the changes are not known."""
        index, old, new = entry.index, entry.state, key.state
        if index is not None and old == new:
            return
        if inline and (index is None or new.last_seq - old.last_seq > _MOST_INLINE_CHANGES):
            raise NotInlineError
        if index is None:
            return
        if old.key_id == new.key_id and old.version > new.version:
            raise _BehindError((key.scope_key, vectors.kind))
        entry.set(None)  # until all changes are in, and where they are not known
        if old.key_id != new.key_id or old.version < key.log_start:
            return
        changed = key.changed_since(old.version)
        index.remove(changed)
        index.append(*vectors.of([seq for seq in changed if seq <= old.last_seq]))
        for seqs, matrix in vectors.after(old.last_seq):
            index.append(seqs, matrix)
        if not index.is_worn:
            entry.set(index, new)

    def _load(self, key: SearchedKey, vectors: SqlVectors) -> VectorIndex:
        fits = key.count() * vectors.kind.dimensions * 4 <= self._store.cache.budget
        index = VectorIndex(vectors.kind.dimensions, keeps_vectors=fits)
        index.reserve(key.count())
        for seqs, matrix in vectors.after(0):
            index.append(seqs, matrix)
        return index

    def _warm_up(self, entry: CachedIndex, key: SearchedKey, vectors: SqlVectors) -> None:
        """Load the key where that is quick, or once queries have shown that it is in use."""
        entry.cold_queries += 1
        if entry.cold_queries < _QUERIES_BEFORE_LOADING and key.count() > _LOADED_AT_ONCE:
            return
        if key.count() <= _LOADED_IN_PLACE:
            entry.set(self._load(key, vectors), key.state)
        elif not entry.is_loading:
            entry.is_loading = True
            load, args = self._load_in_background, (entry, key.scope_key, vectors.kind)
            threading.Thread(target=load, args=args, name="vectormem-load", daemon=True).start()

    def _load_in_background(self, entry: CachedIndex, scope_key: str, kind: VectorKind) -> None:
        def work(connection: apsw.Connection) -> tuple[VectorIndex, State]:
            key, vectors = self._open_key(connection, scope_key, kind)
            index = self._load(key, vectors)
            index.prepare()
            return index, key.state

        try:
            with suppress(StorageFailedError):  # closed meanwhile, or a fault that the next query meets and reports
                loaded = self._store.read(work)
                with self._store.cache.use(scope_key, kind) as current:
                    if current.index is None:
                        current.set(*loaded)
        finally:
            entry.is_loading = False
