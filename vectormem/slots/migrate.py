"""Items of earlier versions, which lay under the bare scope key, brought to the keys of their slots."""

from collections.abc import Sequence
from dataclasses import dataclass

from vectormem.providers.base import BuiltinProvider
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext, scope_key

_MOST_COPIED = 100_000


@dataclass(frozen=True, kw_only=True)
class KeyMigration:
    """What happened to one key: `moved` items were found under the old one, `copied` of them were new."""

    old_key: str
    new_key: str
    moved: int
    copied: int


@dataclass(frozen=True, kw_only=True)
class MigrationResult:
    """The sums over `keys`, which lists the old keys that held items."""

    moved: int
    copied: int
    keys: tuple[KeyMigration, ...]


async def migrate_memory_keys(
    slot: MemorySlot, *, contexts: Sequence[MemoryContext] = (), remove_legacy: bool = False
) -> MigrationResult:
    """Copy the items under a slot's bare scope keys to its current keys, oldest first; safe at every start.

    A global slot needs no contexts; for other scopes, pass one context for each key. Copies keep text and
    metadata and get new ids and times. What was copied once is not copied again, even where it has been
    forgotten since. Old items stay unless `remove_legacy`.
    """
    wanted = contexts or ([MemoryContext()] if slot.scope == "global" else [])
    old_keys = dict.fromkeys(scope_key(slot.name, slot.scope, context) for context in wanted)
    keys = [await _migrate(slot, old_key, remove_legacy) for old_key in old_keys if old_key is not None]
    found = tuple(key for key in keys if key.moved)
    return MigrationResult(moved=sum(key.moved for key in found), copied=sum(key.copied for key in found), keys=found)


async def _migrate(slot: MemorySlot, old_key: str, remove_legacy: bool) -> KeyMigration:
    new_key = f"{slot.name}#{old_key}"
    moved, copied = await _copy(slot, old_key, new_key, remove_legacy)
    return KeyMigration(old_key=old_key, new_key=new_key, moved=moved, copied=copied)


async def _copy(slot: MemorySlot, old_key: str, new_key: str, remove_legacy: bool) -> tuple[int, int]:
    if not isinstance(slot.provider, BuiltinProvider):
        return await _copy_custom(slot, old_key, new_key, remove_legacy)
    return await slot.provider.copy_from(old_key, new_key, remove_old=remove_legacy)


async def _copy_custom(slot: MemorySlot, old_key: str, new_key: str, remove_legacy: bool) -> tuple[int, int]:
    """Copy in a provider that cannot record what was copied: texts that are there are not copied again."""
    old = await slot.provider.list(old_key, limit=_MOST_COPIED)
    known = {item.text for item in await slot.provider.list(new_key, limit=_MOST_COPIED)}
    fresh = [item for item in reversed(old) if item.text not in known]
    for item in fresh:
        await slot.provider.add(new_key, item.text, metadata=item.metadata)
    for item in old if remove_legacy else ():
        await slot.provider.remove(old_key, item.id)
    return len(old), len(fresh)
