"""Keys spread over two servers by the example: one memory to its users, and each key whole on one server."""

import asyncio
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from embedders import HashEmbedder
from examples.postgres_shards import ShardedMemory
from tests.extras.postgres.servers import servers
from vectormem import PostgresStore, PostgresVectorMemory
from vectormem.testing import VectorProviderSuite

KEYS = [f"facts#user:{number}" for number in range(60)]


@pytest.fixture(scope="module")
def pair():
    """Two servers, each without a table."""
    with servers() as start:
        yield [start("one"), start("two")]


@pytest.fixture
def stores(pair):
    """A store on each server; their schema is dropped afterwards."""
    opened = [PostgresStore(server.dsn, pool_size=4) for server in pair]
    yield opened
    for store, server in zip(opened, pair, strict=True):
        store.close()
        server.query("DROP SCHEMA vectormem CASCADE")


def sharded(stores, embedder=None, **options):
    memories = [PostgresVectorMemory(store, embedder=embedder or HashEmbedder(), **options) for store in stores]
    return ShardedMemory({f"shard{number}": memory for number, memory in enumerate(memories, 1)})


class TestShardedMemory(VectorProviderSuite):
    @pytest.fixture
    def provider(self, stores, embedder):
        return sharded(stores, embedder)

    @pytest.fixture
    def small_provider(self, stores, embedder):
        return sharded(stores, embedder, max_items=3)


def held(server):
    return [key for (key,) in server.query("SELECT key FROM vectormem.memory_keys WHERE items>0 ORDER BY key")]


def hashed_home(key, shards):
    """Return the home by the rule, written once more: the highest hash of name, line break and key."""
    hashes = {hashlib.blake2b(b"shard%d\n" % n + key.encode()).hexdigest(): f"shard{n}" for n in range(1, shards + 1)}
    return hashes[max(hashes)]


def test_every_key_lies_whole_on_the_server_of_its_hash(pair, stores):
    memory = sharded(stores)

    async def main():
        for key in KEYS:
            await memory.add(key, f"{key} likes tea")
            await memory.add(key, f"{key} likes milk")
        return [[item.text for item in await memory.list(key)] for key in KEYS]

    assert asyncio.run(main()) == [[f"{key} likes milk", f"{key} likes tea"] for key in KEYS]
    for number, server in enumerate(pair, 1):
        own = sorted(key for key in KEYS if hashed_home(key, 2) == f"shard{number}")
        assert held(server) == own
        assert 15 < len(own) < 45
        assert server.query("SELECT count(*) FROM vectormem.memory_items") == [(2 * len(own),)]


def test_another_shard_takes_over_its_part_of_the_keys_and_no_other_key_moves(pair, stores):
    one = sharded(stores[:1])

    async def main():
        added = {key: [await one.add(key, "likes tea"), await one.add(key, "likes milk")] for key in KEYS}
        both = sharded(stores)
        assert set(await both.astray()) == {key for key in KEYS if hashed_home(key, 2) == "shard2"}
        moved = await both.bring_home()
        again = await both.bring_home()
        found = {key: [*await both.list(key)][::-1] for key in KEYS}
        by_meaning = [(await both.list(key, query="milk", limit=1))[0].text for key in KEYS]
        return added == found, moved, again, set(by_meaning)

    homes = [hashed_home(key, 2) for key in KEYS]
    assert asyncio.run(main()) == (True, homes.count("shard2"), 0, {"likes milk"})
    assert held(pair[0]) == sorted(key for key in KEYS if hashed_home(key, 2) == "shard1")


def test_one_server_that_is_down_takes_only_its_keys_with_it():
    with servers() as start:
        pair = [start("one"), start("two")]
        opened = [PostgresStore(server.dsn, pool_size=2, connect_seconds=2) for server in pair]
        memory = sharded(opened)
        pair[1].kill()

        async def main():
            keys = KEYS[:10]
            outcomes = await asyncio.gather(*(memory.add(key, "likes tea") for key in keys), return_exceptions=True)
            return {key: type(outcome).__name__ for key, outcome in zip(keys, outcomes, strict=True)}

        expected = {"shard1": "MemoryItem", "shard2": "StorageFailedError"}
        assert asyncio.run(main()) == {key: expected[hashed_home(key, 2)] for key in KEYS[:10]}
        for store in opened:
            store.close()


def test_the_example_runs_and_finds_each_user_on_a_shard(pair, stores):
    path = Path(__file__).parents[3] / "examples" / "postgres_shards.py"
    command = [sys.executable, "-W", "error", str(path), *(server.dsn for server in pair)]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        users = ("ada", "ben", "cleo", "dan", "eve", "finn")
        homes = [hashed_home(f"facts#user:{user}", 2) for user in users]
        expected = [f"{home} {user.title()} likes tea" for home, user in zip(homes, users, strict=True)]
        assert done.stdout.splitlines() == expected
