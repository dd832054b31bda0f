"""SqliteMemory keeps every rule of a provider."""

import pytest

from vectormem import SqliteMemory, SqliteStore
from vectormem.testing import ProviderSuite


class TestSqliteMemory(ProviderSuite):
    @pytest.fixture
    def store(self, tmp_path):
        with SqliteStore(tmp_path / "memory.db") as store:
            yield store

    @pytest.fixture
    def provider(self, store):
        return SqliteMemory(store)

    @pytest.fixture
    def small_provider(self, store):
        return SqliteMemory(store, max_items=3)

    @pytest.fixture
    def reopened(self, tmp_path, provider):
        opened = []

        def reopen():
            opened.append(SqliteStore(tmp_path / "memory.db"))
            return SqliteMemory(opened[-1])

        yield reopen
        for store in opened:
            store.close()
