"""InMemoryMemory keeps every rule of a provider."""

import pytest

from vectormem import InMemoryMemory
from vectormem.testing import ProviderSuite


class TestInMemoryMemory(ProviderSuite):
    @pytest.fixture
    def provider(self):
        return InMemoryMemory()

    @pytest.fixture
    def small_provider(self):
        return InMemoryMemory(max_items=3)
