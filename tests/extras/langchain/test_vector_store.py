"""LangChain's standard tests of vector stores, unchanged: in memory and in a file."""

import pytest
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from vectormem import SqliteStore
from vectormem.adapters.langchain_vectors import VectormemVectorStore


class TestInMemory(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self):
        with SqliteStore(":memory:") as store:
            yield VectormemVectorStore(store, self.get_embeddings())


class TestInAFile(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        with SqliteStore(tmp_path / "memory.db") as store:
            yield VectormemVectorStore(store, self.get_embeddings())
