"""KVMemory keeps every rule of a provider."""

import pytest

from tests.conftest import DictKV
from vectormem import KVMemory
from vectormem.testing import ProviderSuite


class TestKVMemory(ProviderSuite):
    @pytest.fixture
    def kv(self):
        return DictKV()

    @pytest.fixture
    def provider(self, kv):
        return KVMemory(kv)

    @pytest.fixture
    def small_provider(self, kv):
        return KVMemory(kv, max_items=3)

    @pytest.fixture
    def reopened(self, kv):
        return lambda: KVMemory(lambda: kv)
