"""What slots ask of a provider, built-in or custom, with its failures in vectormem's words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pydantic import JsonValue

from vectormem.canonical import field_values
from vectormem.errors import MemoryInvalidError, StorageFailedError, VectorMemError
from vectormem.items import MemoryItem
from vectormem.providers.base import BuiltinProvider
from vectormem.providers.protocol import MemoryProvider, UpsertProvider
from vectormem.slots.define import MemorySlot

_MOST_LOOKED_AT = 100_000


async def list_items(slot: MemorySlot, key: str, *, limit: int, query: str | None) -> list[MemoryItem]:
    """Return at most `limit` items, however many the provider gives."""
    with _translated(slot):
        return list(await slot.provider.list(key, limit=limit, query=query))[:limit]


async def remember_item(
    slot: MemorySlot, key: str, text: str, metadata: dict[str, JsonValue] | None
) -> tuple[MemoryItem, bool]:
    """Store an item; with `item_key`, in place of the one it matches. Return it and whether it replaced one."""
    with _translated(slot):
        if not slot.item_key or metadata is None:
            return await slot.provider.add(key, text, metadata=metadata), False
        if isinstance(slot.provider, BuiltinProvider):
            return await slot.provider.upsert_matching(key, text, metadata=metadata, fields=slot.item_key)
        return await _replace(slot.provider, key, text, metadata, slot.item_key)


async def put_item(
    slot: MemorySlot, key: str, item_id: str, text: str, metadata: dict[str, JsonValue] | None
) -> MemoryItem:
    """Store an item under this id, in place of the one that has it. The provider must be able to upsert."""
    with _translated(slot):
        provider = slot.provider
        if not isinstance(provider, UpsertProvider):
            raise MemoryInvalidError(f"the provider of memory {slot.name!r} has no upsert")
        return await provider.upsert(key, text, id=item_id, metadata=metadata)


async def forget_item(slot: MemorySlot, key: str, item_id: str) -> bool:
    """Delete an item; return whether it was there, also where a custom provider does not say."""
    with _translated(slot):
        if isinstance(slot.provider, BuiltinProvider):
            return await slot.provider.remove(key, item_id)
        known = any(item.id == item_id for item in await slot.provider.list(key, limit=_MOST_LOOKED_AT))
        removed = await slot.provider.remove(key, item_id)
        return known if removed is None else bool(removed)


async def _replace(
    provider: MemoryProvider, key: str, text: str, metadata: dict[str, JsonValue], fields: Sequence[str]
) -> tuple[MemoryItem, bool]:
    """Replace in a custom provider: in place where it can upsert, else by removing and adding, not at once."""
    wanted = field_values(metadata, fields)
    items = await provider.list(key, limit=_MOST_LOOKED_AT)
    matches = [item for item in items if item.metadata is not None and field_values(item.metadata, fields) == wanted]
    for surplus in matches[isinstance(provider, UpsertProvider) :]:
        await provider.remove(key, surplus.id)
    if isinstance(provider, UpsertProvider):
        kept = matches[0].id if matches else None
        return await provider.upsert(key, text, id=kept, metadata=metadata), bool(matches)
    return await provider.add(key, text, metadata=metadata), bool(matches)


@contextmanager
def _translated(slot: MemorySlot) -> Iterator[None]:
    try:
        yield
    except VectorMemError:
        raise
    except Exception as error:
        raise StorageFailedError(f"the provider of memory {slot.name!r} failed: {error!r}") from error
