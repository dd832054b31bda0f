"""Rows in any key-value store that can get, put and delete strings."""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeAlias
from weakref import WeakValueDictionary

from vectormem.concurrency import AsyncLock, ForkAware
from vectormem.errors import MemoryInvalidError, StorageFailedError, VectorMemError
from vectormem.stores.document import read_document, write_document
from vectormem.stores.rows import ItemStore, Rows, T
from vectormem.stores.table import Table

_PREFIX = "memory/"


class KeyValue(Protocol):
    """What a key-value store has to offer. It may also offer `list(prefix=...)` of its keys."""

    async def get(self, key: str, /) -> str | None:
        """Return the value, or None where there is none."""
        ...

    async def put(self, key: str, value: str, /) -> object:
        """Store a value."""
        ...

    async def delete(self, key: str, /) -> object:
        """Delete a key, where it is there."""
        ...


Binding: TypeAlias = KeyValue | Callable[[], KeyValue]


class KVStore(ForkAware, ItemStore):
    """One JSON document for each key, under `memory/<scope key>`.

    Changes through one object follow each other. Between processes the last writer wins, since a plain
    key-value store cannot compare and set.
    """

    def __init__(self, binding: Binding) -> None:
        if binding is None or not (callable(binding) or _is_key_value(binding)):
            raise MemoryInvalidError(
                f"kv must have async get, put and delete, or be a function that returns such an object; not {binding!r}"
            )
        self._binding = binding
        self._renew_locks()
        super().__init__()

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        async with _translated(scope_key):
            return work(await self._load(self._resolve(), scope_key))

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        async with self._lock_of(scope_key), _translated(scope_key):
            kv = self._resolve()
            table = await self._load(kv, scope_key)
            result = work(table)
            if table.is_blank:
                await kv.delete(_PREFIX + scope_key)
            else:
                await kv.put(_PREFIX + scope_key, write_document(scope_key, table))
            return result

    async def scope_keys(self) -> Sequence[str]:
        async with _translated("*"):
            kv = self._resolve()
            lister: Callable[..., Awaitable[Any]] | None = getattr(kv, "list", None)
            if lister is None:
                raise StorageFailedError("this key-value store cannot list its keys: it has no method `list`")
            keys = sorted(key.removeprefix(_PREFIX) for key in await lister(prefix=_PREFIX))
            return [key for key in keys if (await self._load(kv, key)).count()]

    async def aclose(self) -> None:
        pass

    def _after_fork_in_child(self) -> None:
        self._renew_locks()

    def _renew_locks(self) -> None:
        self._mutex = threading.Lock()
        self._locks: WeakValueDictionary[str, AsyncLock] = WeakValueDictionary()

    def _lock_of(self, scope_key: str) -> AsyncLock:
        """Return the lock of a key, which lasts as long as somebody uses it."""
        with self._mutex:
            return self._locks.setdefault(scope_key, AsyncLock())

    def _resolve(self) -> KeyValue:
        kv = self._binding if _is_key_value(self._binding) else self._binding()  # type: ignore[operator]
        if not _is_key_value(kv):
            raise MemoryInvalidError(f"the kv binding is not usable now: it gave {kv!r}, without get, put and delete")
        return kv  # type: ignore[return-value]

    async def _load(self, kv: KeyValue, scope_key: str) -> Table:
        text = await kv.get(_PREFIX + scope_key)
        return read_document(text, scope_key, f"the value of {_PREFIX + scope_key!r}")


def _is_key_value(candidate: object) -> bool:
    return all(callable(getattr(candidate, name, None)) for name in ("get", "put", "delete"))


@asynccontextmanager
async def _translated(scope_key: str) -> AsyncIterator[None]:
    try:
        yield
    except VectorMemError:
        raise
    except Exception as error:
        raise StorageFailedError(f"the key-value store failed on {_PREFIX + scope_key!r}: {error}") from error
