"""Users spread over several Postgres servers: every scope key lies whole on one of them, found by a stable hash.

python examples/postgres_shards.py postgresql://db1.example.com/agents postgresql://db2.example.com/agents
"""

import asyncio
import hashlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from embedders import HashEmbedder
from vectormem import MemoryContext, MemoryItem, MemoryRun, PostgresStore, PostgresVectorMemory, define_memory


class ShardedMemory:
    """A provider over others, by name: one key, one shard. Servers may change their addresses, not their names.

    The home of a key is the shard whose name hashes highest together with it. So a shard more, of n, becomes
    the home of one key in n, and no other key moves.
    """

    ranks_by_meaning = True

    def __init__(self, shards: Mapping[str, PostgresVectorMemory]) -> None:
        self._shards = dict(shards)

    def home(self, scope_key: str) -> str:
        """Return the name of the shard of a key, the same in every process and on every machine."""
        key = str(scope_key).encode(errors="replace")  # what is no key is refused by the shard
        return max(self._shards, key=lambda name: hashlib.blake2b(name.encode() + b"\n" + key).digest())

    def at(self, scope_key: str) -> PostgresVectorMemory:
        """Return the memory that holds a key; it has further verbs, such as `clear` and `reindex`."""
        return self._shards[self.home(scope_key)]

    async def list(self, scope_key: str, *, limit: int | None = None, query: str | None = None) -> Sequence[MemoryItem]:
        return await self.at(scope_key).list(scope_key, limit=limit, query=query)

    async def add(self, scope_key: str, text: str, *, metadata: Mapping[str, Any] | None = None) -> MemoryItem:
        return await self.at(scope_key).add(scope_key, text, metadata=metadata)

    async def upsert(
        self, scope_key: str, text: str, *, id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> MemoryItem:
        return await self.at(scope_key).upsert(scope_key, text, id=id, metadata=metadata)

    async def remove(self, scope_key: str, item_id: str) -> bool:
        return await self.at(scope_key).remove(scope_key, item_id)

    async def astray(self) -> dict[str, str]:
        """Return the keys that lie elsewhere than at home, with the shard that holds them."""
        held = {name: await shard.scope_keys() for name, shard in self._shards.items()}
        return {key: name for name, keys in held.items() for key in keys if self.home(key) != name}

    async def bring_home(self) -> int:
        """Move the keys that are astray, after a shard was added; return how many. Let nobody write meanwhile."""
        astray = await self.astray()
        for key, name in astray.items():
            await self.at(key).restore(key, await self._shards[name].list(key), oldest_first=False)
            await self._shards[name].clear(key)
        return len(astray)


async def main(dsns: Sequence[str]) -> None:
    """Remember a fact of each of six users, and recall them."""
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(PostgresStore(dsn)) for dsn in dsns]
        memories = [PostgresVectorMemory(store, embedder=HashEmbedder()) for store in stores]
        sharded = ShardedMemory({f"shard{number}": memory for number, memory in enumerate(memories, 1)})
        facts = define_memory(name="facts", scope=lambda context: f"user:{context.principal}", provider=sharded)
        for user in ("ada", "ben", "cleo", "dan", "eve", "finn"):
            run = MemoryRun([facts], MemoryContext(principal=user))
            await run.call("remember_facts", {"text": f"{user.title()} likes tea"})
            found = await run.call("recall_facts", {"query": "tea"})
            print(sharded.home(f"facts#user:{user}"), *(item["text"] for item in found["items"]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
