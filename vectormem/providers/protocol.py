"""What a slot needs of a provider. A custom provider implements this and nothing more."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from vectormem.items import MemoryItem


@runtime_checkable
class MemoryProvider(Protocol):
    """Keeps items under scope keys; no verb lets one key see the items of another.

    A provider may carry `ranks_by_meaning: bool`, which slots mention to the model.
    """

    async def list(self, scope_key: str, *, limit: int | None = None, query: str | None = None) -> Sequence[MemoryItem]:
        """Return items of the key: newest first, or the best matches first where `query` is not blank.

        `limit` bounds how many; None means all. A query that matches nothing returns no items.
        """
        ...

    async def add(self, scope_key: str, text: str, *, metadata: Mapping[str, JsonValue] | None = None) -> MemoryItem:
        """Store an item as the newest and return it."""
        ...

    async def remove(self, scope_key: str, item_id: str) -> bool:
        """Delete an item. Return False where the key holds no such item and nothing changed."""
        ...


@runtime_checkable
class UpsertProvider(MemoryProvider, Protocol):
    """A provider that can also replace an item in place."""

    async def upsert(
        self,
        scope_key: str,
        text: str,
        *,
        id: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> MemoryItem:
        """Replace the item with this id: it keeps the id, gets a new time and becomes the newest.

        Without an id, this is `add`. An id that is not stored becomes the id of the new item. Another
        item that holds the same text is removed, so that one is left.
        """
        ...
