"""Slots and providers, as the tests of agents need them."""

import pytest

from vectormem import InMemoryMemory, blocking, define_memory, memory_key


class CountingMemory(InMemoryMemory):
    """Keeps what it was asked in `queries`."""

    def __init__(self):
        super().__init__()
        self.queries = []

    async def list(self, scope_key, *, limit=None, query=None):
        self.queries.append((scope_key, query))
        return await super().list(scope_key, limit=limit, query=query)


@pytest.fixture
def provider():
    return CountingMemory()


def slot_of(provider, name="notes", *, scope="global", **options):
    return define_memory(name=name, scope=scope, provider=provider, **options)


def holding(provider, *texts, name="notes", key=None, **options):
    """Return a slot that holds these texts."""
    slot = slot_of(provider, name, **options)
    for text in texts:
        blocking(provider).add(key or memory_key(slot), text)
    return slot


def block(*texts, name="notes"):
    return "\n".join([f'<memory name="{name}">', *(f"- {text}" for text in texts), "</memory>"])


def stored(provider, key="notes#global"):
    return [item.text for item in blocking(provider).list(key)]
