"""The checks of `doctor` on the slots of a folder: what their providers do not promise."""

from collections.abc import Iterator
from pathlib import Path

from vectormem.cli.checkup import Finding, Level
from vectormem.providers.builtin import InMemoryMemory, InMemoryVectorMemory, KVMemory
from vectormem.slots.define import MemorySlot
from vectormem.slots.load import load_memory_slots


def examine_slots(folder: Path) -> tuple[list[MemorySlot], list[Finding]]:
    """Return the slots that the files of a folder define, and what there is to know of where they keep their items."""
    slots = load_memory_slots(folder)
    return slots, [finding for slot in slots for finding in _examine(slot)]


def _examine(slot: MemorySlot) -> Iterator[Finding]:
    if isinstance(slot.provider, KVMemory) and not slot.provider.can_compare:
        yield Finding(
            Level.NOTE,
            "slots",
            f"memory {slot.name!r} lies in a key-value store that cannot compare and set: of two processes that write "
            "one key at once, the last one wins",
            "let one process write it, or use a store with compare_and_set, such as RedisKV",
        )
    if isinstance(slot.provider, InMemoryMemory | InMemoryVectorMemory):
        yield Finding(
            Level.NOTE,
            "slots",
            f"memory {slot.name!r} lies in the process alone, and is gone when that ends",
            "use SqliteMemory or SqliteVectorMemory to keep it",
        )
