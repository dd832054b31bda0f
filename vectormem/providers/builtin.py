"""The built-in providers: a store times a ranking."""

import os
from typing import TypeAlias, Unpack

from embedders import Embedder
from vectormem.checks import check_scope_key
from vectormem.errors import MemoryInvalidError
from vectormem.origin import Origin
from vectormem.providers.base import BuiltinProvider
from vectormem.providers.vector import VectorProvider
from vectormem.ranking.choice import Ranking
from vectormem.stores.erasure import Erased
from vectormem.stores.file.store import FileStore
from vectormem.stores.kv import Binding, KVStore
from vectormem.stores.memory import DictStore
from vectormem.stores.sqlite.items import SqliteItems
from vectormem.stores.sqlite.store import SqliteStore

StoreOrPath: TypeAlias = SqliteStore | str | os.PathLike[str]


class InMemoryMemory(BuiltinProvider):
    """Items in this process only, found by words; lost when it ends."""

    def __init__(self, *, max_items: int | None = 1000, **origin: Unpack[Origin]) -> None:
        super().__init__(DictStore(), max_items=max_items, **origin)


class FileMemory(BuiltinProvider):
    """Items in one JSON file a key in the folder `dir`, found by words.

    Several processes may share the folder; on a network file system only where it creates files
    atomically. The folder is created by the first write, files are readable by their owner alone.
    """

    def __init__(self, dir: str | os.PathLike[str], *, max_items: int | None = 1000, **origin: Unpack[Origin]) -> None:
        self._files = FileStore(dir)
        super().__init__(self._files, max_items=max_items, **origin)

    async def erase(self, scope_key: str) -> Erased:
        """Remove the files of a scope key: of the key itself, and of `<slot>#<scope_key>` in every slot.

        Files left by a crash go with them. Raises StorageFailedError where the folder holds a copy made by others.
        """
        return await self._files.erase(check_scope_key(scope_key))


class KVMemory(BuiltinProvider):
    """Items in a key-value store, found by words; `kv` has async `get`, `put` and `delete` of strings.

    `kv` may be a function that returns the store, called at each use. One object keeps every item. Several
    processes do where the store has `compare_and_set`, as `RedisKV` has; else, of two that write one key
    at once, the last one wins. A call that takes more than `timeout` seconds fails (None: no bound).
    """

    def __init__(
        self, kv: Binding, *, max_items: int | None = 1000, timeout: float | None = 10, **origin: Unpack[Origin]
    ) -> None:
        self._kv = KVStore(kv, timeout=timeout)
        super().__init__(self._kv, max_items=max_items, **origin)

    @property
    def can_compare(self) -> bool:
        """Whether the store can compare and set, so that changes of several processes are all kept."""
        return self._kv.can_compare


class SqliteMemory(BuiltinProvider):
    """Items in a `SqliteStore`, found by words. A path in its place is opened, and closed by `aclose`."""

    def __init__(self, store: StoreOrPath, *, max_items: int | None = 1000, **origin: Unpack[Origin]) -> None:
        super().__init__(_items(store), max_items=max_items, **origin)


class InMemoryVectorMemory(VectorProvider):
    """Items in this process only, found by meaning; lost when it ends."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        max_items: int | None = 5000,
        min_score: float = 0.2,
        exact: bool = False,
        ranking: Ranking = "vector",
        **origin: Unpack[Origin],
    ) -> None:
        super().__init__(
            DictStore(),
            embedder=embedder,
            max_items=max_items,
            min_score=min_score,
            exact=exact,
            ranking=ranking,
            **origin,
        )


class SqliteVectorMemory(VectorProvider):
    """Items and vectors in a `SqliteStore`, found by meaning.

    A path in place of the store is opened, and closed by `aclose`. Several processes may write one file.
    """

    def __init__(
        self,
        store: StoreOrPath,
        *,
        embedder: Embedder,
        max_items: int | None = 5000,
        min_score: float = 0.2,
        exact: bool = False,
        ranking: Ranking = "vector",
        **origin: Unpack[Origin],
    ) -> None:
        super().__init__(
            _items(store),
            embedder=embedder,
            max_items=max_items,
            min_score=min_score,
            exact=exact,
            ranking=ranking,
            **origin,
        )


def _items(store: object) -> SqliteItems:
    if isinstance(store, SqliteStore):
        return SqliteItems(store, owned=False)
    if isinstance(store, str | os.PathLike):
        return SqliteItems(SqliteStore(store), owned=True)
    raise MemoryInvalidError(f"store must be a SqliteStore or a path, not {store!r}")
