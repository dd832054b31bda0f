"""The stores of py-key-value (`key_value.aio`) as key-value stores for KVMemory."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


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

    Its stores cannot compare and set: of two processes that write one key at once, the last one wins.
    """

    def __init__(self, store: AsyncKeyValue, *, collection: str = "vectormem") -> None:
        self._store = store
        self._collection = collection

    async def get(self, key: str, /) -> str | None:
        """Return the value of a key, or None."""
        held = await self._store.get(key, collection=self._collection)
        return None if held is None else held["document"]

    async def put(self, key: str, value: str, /) -> None:
        """Store a value."""
        await self._store.put(key, {"document": value}, collection=self._collection)

    async def delete(self, key: str, /) -> None:
        """Delete a key, where it is there."""
        await self._store.delete(key, collection=self._collection)

    async def list(self, *, prefix: str = "") -> Sequence[str]:
        """Return the keys that begin with `prefix`. Raises NotImplementedError where the store cannot tell."""
        keys = getattr(self._store, "keys", None)
        if keys is None:
            raise NotImplementedError(f"{type(self._store).__name__} cannot list its keys")
        return [key for key in await keys(self._collection, limit=10_000) if key.startswith(prefix)]
