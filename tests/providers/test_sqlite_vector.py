"""SqliteVectorMemory keeps every rule of a vector provider."""

import pytest

from vectormem import SqliteStore, SqliteVectorMemory
from vectormem.testing import VectorProviderSuite


class TestSqliteVectorMemory(VectorProviderSuite):
    @pytest.fixture
    def store(self, tmp_path):
        with SqliteStore(tmp_path / "memory.db") as store:
            yield store

    @pytest.fixture
    def provider(self, store, embedder):
        return SqliteVectorMemory(store, embedder=embedder)

    @pytest.fixture
    def small_provider(self, store, embedder):
        return SqliteVectorMemory(store, embedder=embedder, max_items=3)

    @pytest.fixture
    def reopened(self, tmp_path, provider, embedder):
        opened = []

        def reopen(other=embedder):
            opened.append(SqliteStore(tmp_path / "memory.db"))
            return SqliteVectorMemory(opened[-1], embedder=other)

        yield reopen
        for store in opened:
            store.close()


class TestInAMemoryDatabase(VectorProviderSuite):
    @pytest.fixture
    def store(self):
        with SqliteStore(":memory:") as store:
            yield store

    @pytest.fixture
    def provider(self, store, embedder):
        return SqliteVectorMemory(store, embedder=embedder)

    @pytest.fixture
    def small_provider(self, store, embedder):
        return SqliteVectorMemory(store, embedder=embedder, max_items=3)

    @pytest.fixture
    def reopened(self, store, provider, embedder):
        return lambda other=embedder: SqliteVectorMemory(store, embedder=other)
