"""A custom provider with a ranking of its own passes the suite without the keyword rule."""

import pytest

from tests.providers.stand_ins import WrappingProvider
from vectormem.testing import ProviderSuite


class Shortest(WrappingProvider):
    """Answers every query with all items, the shortest first."""

    async def list(self, scope_key, *, limit=None, query=None):
        await super().list(scope_key, limit=limit, query=query)
        if not query or not query.strip():
            return await super().list(scope_key, limit=limit)
        return sorted(await super().list(scope_key), key=lambda item: len(item.text))[:limit]


class TestOwnRanking(ProviderSuite):
    ranks_by_words = False

    @pytest.fixture
    def provider(self):
        return Shortest()
