"""InMemoryVectorMemory keeps every rule of a vector provider."""

import pytest

from vectormem import InMemoryVectorMemory
from vectormem.providers.vector import VectorProvider
from vectormem.testing import VectorProviderSuite


class TestInMemoryVectorMemory(VectorProviderSuite):
    @pytest.fixture
    def provider(self, embedder):
        return InMemoryVectorMemory(embedder=embedder)

    @pytest.fixture
    def small_provider(self, embedder):
        return InMemoryVectorMemory(embedder=embedder, max_items=3)

    @pytest.fixture
    def reopened(self, provider, embedder):
        def reopen(other=embedder):
            return VectorProvider(provider._items, embedder=other, max_items=5000, min_score=0.2, exact=False)

        return reopen
