"""KVMemory on a server keeps every rule of a provider, from a URL and with a client of redis-py."""

import pytest
from redis.asyncio import Redis

from vectormem import KVMemory, RedisKV
from vectormem.testing import ProviderSuite


class TestKVMemoryOnAURL(ProviderSuite):
    @pytest.fixture
    def kv(self, server):
        return RedisKV(server.url)

    @pytest.fixture
    def provider(self, kv):
        return KVMemory(kv)

    @pytest.fixture
    def small_provider(self, kv):
        return KVMemory(kv, max_items=3)

    @pytest.fixture
    def reopened(self, server):
        return lambda: KVMemory(lambda: RedisKV(server.url))


class TestKVMemoryWithAClientOfItsOwn(TestKVMemoryOnAURL):
    @pytest.fixture(params=[False, True], ids=["bytes", "decoded"])
    def kv(self, server, request):
        return RedisKV(Redis.from_url(server.url, decode_responses=request.param), prefix="app:")

    @pytest.fixture
    def reopened(self, kv):
        return lambda: KVMemory(kv)
