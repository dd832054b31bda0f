"""Custom providers, as users might write them."""

import uuid
from datetime import UTC, datetime

from vectormem import InMemoryMemory, MemoryItem


class MinimalProvider:
    """A custom provider with nothing but list, add and remove; `calls` names the calls it had."""

    def __init__(self):
        self.items = {}
        self.calls = []

    async def list(self, scope_key, *, limit=None, query=None):
        self.calls.append(("list", scope_key, limit, query))
        return self.items.get(scope_key, [])[::-1][:limit]

    async def add(self, scope_key, text, *, metadata=None):
        self.calls.append(("add", scope_key, text))
        item = MemoryItem(id=uuid.uuid4().hex, text=text, created_at=datetime.now(UTC), metadata=metadata)
        self.items.setdefault(scope_key, []).append(item)
        return item

    async def remove(self, scope_key, item_id):
        self.calls.append(("remove", scope_key, item_id))
        before = self.items.get(scope_key, [])
        self.items[scope_key] = [item for item in before if item.id != item_id]
        return len(self.items[scope_key]) < len(before)


class SilentProvider(MinimalProvider):
    """A custom provider whose remove does not tell whether the item was there."""

    async def remove(self, scope_key, item_id):
        await super().remove(scope_key, item_id)


class UpsertingProvider(MinimalProvider):
    """A custom provider that can replace in place."""

    async def upsert(self, scope_key, text, *, id=None, metadata=None):
        self.calls.append(("upsert", scope_key, text, id))
        kept = [item for item in self.items.get(scope_key, []) if item.id != id and item.text != text]
        item = MemoryItem(id=id or uuid.uuid4().hex, text=text, created_at=datetime.now(UTC), metadata=metadata)
        self.items[scope_key] = [*kept, item]
        return item


class FailingProvider:
    """A custom provider whose every verb raises."""

    def __init__(self, error):
        self.error = error

    async def list(self, scope_key, *, limit=None, query=None):
        raise self.error

    async def add(self, scope_key, text, *, metadata=None):
        raise self.error

    async def remove(self, scope_key, item_id):
        raise self.error


class WrappingProvider:
    """A custom provider that passes list, add and remove on to another one, and has no further verb."""

    def __init__(self, inner=None):
        self._inner = inner or InMemoryMemory()

    async def list(self, scope_key, *, limit=None, query=None):
        return await self._inner.list(scope_key, limit=limit, query=query)

    async def add(self, scope_key, text, *, metadata=None):
        return await self._inner.add(scope_key, text, metadata=metadata)

    async def remove(self, scope_key, item_id):
        return await self._inner.remove(scope_key, item_id)
