"""PostgresMemory and PostgresVectorMemory keep every rule of their kinds."""

import pytest

from vectormem import PostgresMemory, PostgresVectorMemory
from vectormem.testing import ProviderSuite, VectorProviderSuite


class TestPostgresMemory(ProviderSuite):
    @pytest.fixture
    def provider(self, store):
        return PostgresMemory(store)

    @pytest.fixture
    def small_provider(self, store):
        return PostgresMemory(store, max_items=3)

    @pytest.fixture
    def reopened(self, opened, provider):
        return lambda: PostgresMemory(opened())


class TestPostgresVectorMemory(VectorProviderSuite):
    @pytest.fixture
    def provider(self, store, embedder):
        return PostgresVectorMemory(store, embedder=embedder)

    @pytest.fixture
    def small_provider(self, store, embedder):
        return PostgresVectorMemory(store, embedder=embedder, max_items=3)

    @pytest.fixture
    def reopened(self, opened, provider, embedder):
        return lambda other=embedder: PostgresVectorMemory(opened(), embedder=other)
