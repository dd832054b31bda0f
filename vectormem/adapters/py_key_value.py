"""The stores of py-key-value (`key_value.aio`) as key-value stores for KVMemory."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote, unquote

_MOST_KEYS = 1000  # some of its stores cut their lists there, and do not say so


class AsyncKeyValue(Protocol):
    """What is used of a store of py-key-value."""

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return the object under a key."""
        ...

    async def put(self, key: str, value: Mapping[str, Any], *, collection: str | None = None) -> None:
        """Store an object."""
        ...

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Delete a key."""
        ...


class PyKeyValue:
    """A store of py-key-value, for `KVMemory`: each key is an object with one string, in `collection`.

    Keys are percent-encoded, since some stores make paths of them. The stores cannot compare and set: of
    two processes that write one key at once, the last one wins.
    """

    def __init__(self, store: AsyncKeyValue, *, collection: str = "vectormem") -> None:
        self._store = store
        self._collection = collection

    async def get(self, key: str, /) -> str | None:
        """Return the value of a key, or None."""
        held = await self._store.get(quote(key, safe=""), collection=self._collection)
        return None if held is None else held["document"]

    async def put(self, key: str, value: str, /) -> None:
        """Store a value."""
        await self._store.put(quote(key, safe=""), {"document": value}, collection=self._collection)

    async def delete(self, key: str, /) -> None:
        """Delete a key, where it is there."""
        await self._store.delete(quote(key, safe=""), collection=self._collection)

    async def list(self, *, prefix: str = "") -> Sequence[str]:
        """Return the keys that begin with `prefix`. Raises NotImplementedError where the store cannot list them all."""
        keys = getattr(self._store, "keys", None)
        if keys is None:
            raise NotImplementedError(f"{type(self._store).__name__} cannot list its keys")
        found = await keys(self._collection, limit=_MOST_KEYS)
        if len(found) >= _MOST_KEYS:
            raise NotImplementedError(f"there may be more keys than the {_MOST_KEYS} that this store lists")
        return [key for key in map(unquote, found) if key.startswith(prefix)]
