"""Slots for the memory tool, and what is in them."""

from vectormem import InMemoryMemory, MemoryContext, blocking, define_memory, memory_key

TOOL = {"type": "memory_20250818", "name": "memory"}
ALL = {"forget": True}


def define(name="notes", scope="global", provider=None, expose=ALL, **options):
    return define_memory(name=name, scope=scope, provider=provider or InMemoryMemory(), expose=expose, **options)


def put(slot, id, text, **context):
    blocking(slot.provider).upsert(memory_key(slot, MemoryContext(**context)), text, id=id)


def kept(slot, **context):
    items = blocking(slot.provider).list(memory_key(slot, MemoryContext(**context)))
    return {item.id: item.text for item in items}
