"""Rows in any key-value store that can get, put and delete strings."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeAlias, runtime_checkable
from weakref import WeakValueDictionary

from vectormem.checks import check_seconds
from vectormem.concurrency import AsyncLock, ForkAware
from vectormem.errors import MemoryInvalidError, StorageFailedError, VectorMemError
from vectormem.stores.document import read_document, write_document
from vectormem.stores.rows import ItemStore, Rows, T
from vectormem.stores.table import Table

_PREFIX = "memory/"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05

Value: TypeAlias = str | bytes | None


class KeyValue(Protocol):
    """What a key-value store has to offer.

    It may also offer async `list(prefix=...)` of its keys: their names, or pages as Workers KV gives them.
    """

    async def get(self, key: str, /) -> Value:
        """Return the value, or None where there is none."""
        ...

    async def put(self, key: str, value: str, /) -> object:
        """Store a value."""
        ...

    async def delete(self, key: str, /) -> object:
        """Delete a key, where it is there."""
        ...


@runtime_checkable
class ComparingKeyValue(KeyValue, Protocol):
    """A key-value store in which several processes can change one key, and every change is kept."""

    async def compare_and_set(self, key: str, expected: Value, value: str | None, /) -> bool:
        """Store `value` (None: delete) where the key still holds `expected`, at once; return whether it did.

        `expected` is what `get` returned: None where the key was absent.
        """
        ...


Binding: TypeAlias = KeyValue | Callable[[], KeyValue]


class KVStore(ForkAware, ItemStore):
    """One JSON document for each key, under `memory/<scope key>`.

    Changes through one object follow each other. Between processes, a change is made again where another
    one came first, if the store can compare and set; else the last writer wins. No reading or change takes longer
    than `timeout` seconds, its waiting included.
    """

    def __init__(self, binding: Binding, *, timeout: float | None = None) -> None:
        if binding is None or not (callable(binding) or _is_key_value(binding)):
            raise MemoryInvalidError(
                "kv must have async get, put and delete, or be a function that returns such an object, as RedisKV "
                f"makes one of a client of redis-py; not {binding!r}"
            )
        self._binding = binding
        self._timeout = None if timeout is None else check_seconds(timeout, "timeout")
        self._renew_locks()
        super().__init__()

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        async with self._guarded(scope_key):
            return work(_table(await self._resolve().get(_PREFIX + scope_key), scope_key))

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        async with self._guarded(scope_key), self._lock_of(scope_key):
            kv, pause = self._resolve(), _FIRST_PAUSE
            while True:
                held = await kv.get(_PREFIX + scope_key)
                table = _table(held, scope_key)
                result = work(table)
                if await _replace(kv, scope_key, held, table):
                    return result
                await asyncio.sleep(random.uniform(0, pause))
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def scope_keys(self) -> Sequence[str]:
        async with self._guarded("*"):
            lister: Callable[..., Awaitable[Any]] | None = getattr(self._resolve(), "list", None)
            if lister is None:
                raise StorageFailedError("this key-value store cannot list its keys: it has no method `list`")
            keys = sorted(name.removeprefix(_PREFIX) for name in await _names(lister))
        return [key for key in keys if await self.read(key, lambda rows: rows.count())]

    @property
    def can_compare(self) -> bool:
        """Whether the store can compare and set, so that changes of several processes are all kept."""
        return isinstance(self._resolve(), ComparingKeyValue)

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

    @asynccontextmanager
    async def _guarded(self, scope_key: str) -> AsyncIterator[None]:
        """Bound the time of a call, and tell its errors as ours."""
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                yield
        except VectorMemError:
            raise
        except Exception as error:
            place = repr(_PREFIX + scope_key)
            if limit.expired():
                reason = f"gave no answer on {place} within {self._timeout:g} s; a change may have been stored or not"
            else:
                reason = f"failed on {place}: {str(error) or type(error).__name__}"
            raise StorageFailedError(f"the key-value store {reason}") from error


def _is_key_value(candidate: object) -> bool:
    return all(callable(getattr(candidate, name, None)) for name in ("get", "put", "delete"))


def _table(held: Value, scope_key: str) -> Table:
    return read_document(held, scope_key, f"the value of {_PREFIX + scope_key!r}")


async def _names(lister: Callable[..., Awaitable[Any]]) -> Sequence[str]:
    names: list[str] = []
    page = await lister(prefix=_PREFIX)
    while hasattr(page, "list_complete"):
        names += [key.name for key in page.keys]
        if page.list_complete:
            return names
        page = await lister(prefix=_PREFIX, cursor=page.cursor)
    return names + list(page)


async def _replace(kv: KeyValue, scope_key: str, held: Value, table: Table) -> bool:
    """Store the rows in place of what was held; return False where somebody else has changed it since."""
    key, text = _PREFIX + scope_key, None if table.is_blank else write_document(scope_key, table)
    if text == (held.decode() if isinstance(held, bytes) else held):
        return True
    if isinstance(kv, ComparingKeyValue):
        return await kv.compare_and_set(key, held, text)
    await (kv.delete(key) if text is None else kv.put(key, text))
    return True
