"""The vectors of a database that are kept in memory, whole keys at a time."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias

from typing_extensions import TypeVar

from vectormem.index.vectors import VectorIndex

Name: TypeAlias = tuple[str, Hashable]

_ENTRY_BYTES = 1024


class State(NamedTuple):
    """What a loaded index reflects: the number of its key, the key's version, and its highest seq."""

    key_id: int
    version: int
    last_seq: int


class Sized(Protocol):
    """What the cache holds: something that knows its size."""

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        ...


IndexT = TypeVar("IndexT", bound=Sized, default=VectorIndex)


class CachedIndex(Generic[IndexT]):
    """The index of one key and kind, None while the key is cold. Whoever looks at it holds `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.index: IndexT | None = None
        self.state = State(0, 0, 0)
        self.cold_queries = 0
        self.is_loading = False

    def set(self, index: IndexT | None, state: State = State(0, 0, 0)) -> None:
        """Hold an index that reflects `state`, or none."""
        self.index, self.state, self.cold_queries = index, state, 0

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        return _ENTRY_BYTES + (self.index.nbytes if self.index is not None else 0)


class IndexCache:
    """Indexes by scope key and kind; those used longest ago are dropped to stay within `budget` bytes."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._entries: OrderedDict[Name, CachedIndex[Any]] = OrderedDict()
        self._sizes: dict[Name, int] = {}
        self._total = 0

    def peek(self, scope_key: str, kind: Hashable) -> CachedIndex | None:
        """Return the entry where there is one, without counting it as used."""
        return self._entries.get((scope_key, kind))

    def forget(self, scope_key: str) -> None:
        """Drop what is held of a key, whatever its kind."""
        with self._lock:
            names = [name for name in self._entries if name[0] == scope_key]
        for _, kind in names:
            with self.use(scope_key, kind) as entry:
                entry.set(None)

    @contextmanager
    def use(self, scope_key: str, kind: Hashable) -> Iterator[CachedIndex[Any]]:
        """Give out the entry, locked, as the one used last; account for its size afterwards."""
        name = (scope_key, kind)
        entry = self._locked(name)
        try:
            yield entry
            if entry.nbytes != self._sizes.get(name):
                self._account(name, entry.nbytes)
        finally:
            entry.lock.release()

    def _locked(self, name: Name) -> CachedIndex[Any]:
        while True:
            with self._lock:
                entry = self._entries.setdefault(name, CachedIndex())
                self._entries.move_to_end(name)
            entry.lock.acquire()
            if self._entries.get(name) is entry:
                return entry
            entry.lock.release()  # it was dropped in between

    def _account(self, name: Name, size: int) -> None:
        with self._lock:
            self._resize(name, size)
            oldest = iter(list(self._entries.items()) if self._total > self.budget else ())
            for other, entry in oldest:
                if self._total <= self.budget:
                    return
                if other != name and entry.lock.acquire(blocking=False):
                    entry.set(None)
                    entry.lock.release()
                    del self._entries[other]
                    self._resize(other, 0)

    def _resize(self, name: Name, size: int) -> None:
        self._total += size - self._sizes.pop(name, 0)
        if size:
            self._sizes[name] = size
