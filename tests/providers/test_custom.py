"""A custom provider of three verbs passes the suite; what it lacks is skipped."""

import pytest

from tests.providers.stand_ins import WrappingProvider
from vectormem import InMemoryMemory, InMemoryVectorMemory
from vectormem.testing import ProviderSuite, VectorProviderSuite


class TestThreeVerbs(ProviderSuite):
    @pytest.fixture
    def provider(self):
        return WrappingProvider()

    @pytest.fixture
    def small_provider(self):
        return WrappingProvider(InMemoryMemory(max_items=3))


class TestThreeVerbsWithVectors(VectorProviderSuite):
    test_the_provider_says_that_it_ranks_by_meaning = None

    @pytest.fixture
    def provider(self, embedder):
        return WrappingProvider(InMemoryVectorMemory(embedder=embedder))
