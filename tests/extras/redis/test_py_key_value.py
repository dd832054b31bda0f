"""KVMemory on stores of py-key-value, which CI installs beside redis-py."""

import asyncio

import pytest

pytest.importorskip("key_value.aio", reason="py-key-value-aio is not installed")

from diskcache import Cache
from key_value.aio.stores.disk import DiskStore
from key_value.aio.stores.filetree import FileTreeStore, FileTreeV1KeySanitizationStrategy
from key_value.aio.stores.memory import MemoryStore
from key_value.aio.stores.redis import RedisStore
from redis.asyncio import Redis

from vectormem import KVMemory, StorageFailedError, blocking
from vectormem.adapters.py_key_value import PyKeyValue
from vectormem.testing import ProviderSuite


class OnAStore(ProviderSuite):
    @pytest.fixture
    def kv(self, store):
        return PyKeyValue(store)

    @pytest.fixture
    def provider(self, kv):
        return KVMemory(kv)

    @pytest.fixture
    def small_provider(self, kv):
        return KVMemory(kv, max_items=3)

    @pytest.fixture
    def reopened(self, kv):
        return lambda: KVMemory(kv)


class TestOnAMemoryStore(OnAStore):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestOnADiskStore(OnAStore):
    test_scope_keys_are_those_that_hold_items_sorted = None  # it cannot list its keys

    @pytest.fixture
    def store(self, tmp_path):
        with Cache(directory=str(tmp_path)) as cache:
            yield DiskStore(disk_cache=cache)


class TestOnAFileTreeStore(OnAStore):
    test_scope_keys_are_those_that_hold_items_sorted = None  # it cannot list its keys

    @pytest.fixture
    def store(self, tmp_path):
        shortened = FileTreeV1KeySanitizationStrategy(tmp_path)  # else a long key is no file name
        return FileTreeStore(data_directory=tmp_path, key_sanitization_strategy=shortened)


class TestOnARedisStore(OnAStore):
    @pytest.fixture
    def store(self, server):
        return RedisStore(client=Redis.from_url(server.url, decode_responses=True))


def test_collections_keep_memories_apart():
    store = MemoryStore()
    ours, theirs = (blocking(KVMemory(PyKeyValue(store, collection=name))) for name in ("ours", "theirs"))
    ours.add("k", "Tea.")
    assert theirs.list("k") == []
    assert ours.scope_keys() == ["k"]
    assert theirs.scope_keys() == []


@pytest.mark.parametrize("key", ["../../outside", "a/b", "..", "a%2Fb", "*"])
def test_no_key_leaves_the_folder_of_a_store_of_files(tmp_path, key):
    memory = blocking(KVMemory(PyKeyValue(FileTreeStore(data_directory=tmp_path / "a" / "b"))))
    memory.add(key, "Tea.")
    assert [item.text for item in memory.list(key)] == ["Tea."]
    written = [path for path in tmp_path.rglob("*.json") if "Tea." in path.read_text()]
    assert [path.parent for path in written] == [tmp_path / "a" / "b" / "vectormem"]


def test_a_value_of_another_program_is_a_storage_error_and_stays():
    store = MemoryStore()
    asyncio.run(store.put("memory%2Fk", {"other": "value"}, collection="vectormem"))
    memory = blocking(KVMemory(PyKeyValue(store)))
    for verb in (lambda: memory.list("k"), lambda: memory.add("k", "Tea.")):
        with pytest.raises(StorageFailedError, match="document"):
            verb()
    assert asyncio.run(store.get("memory%2Fk", collection="vectormem")) == {"other": "value"}


def test_a_list_that_may_be_cut_is_refused():
    store = MemoryStore()

    async def fill():
        for number in range(1000):
            await store.put(f"memory%2F{number}", {}, collection="vectormem")

    asyncio.run(fill())
    with pytest.raises(StorageFailedError, match="more keys than the 1000"):
        blocking(KVMemory(PyKeyValue(store))).scope_keys()
