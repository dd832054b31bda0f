"""FileMemory keeps every rule of a provider."""

import pytest

from vectormem import FileMemory
from vectormem.testing import ProviderSuite


class TestFileMemory(ProviderSuite):
    @pytest.fixture
    def provider(self, tmp_path):
        return FileMemory(tmp_path)

    @pytest.fixture
    def small_provider(self, tmp_path):
        return FileMemory(tmp_path, max_items=3)

    @pytest.fixture
    def reopened(self, tmp_path):
        return lambda: FileMemory(tmp_path)
