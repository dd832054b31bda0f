"""Providers and embedders that each break one rule, run by `test_suites.py` under the conformance suites."""

import numpy as np
import pytest

from embedders import HashEmbedder
from tests.providers.stand_ins import MinimalProvider, WrappingProvider
from vectormem import InMemoryMemory, InMemoryVectorMemory
from vectormem.testing import EmbedderSuite, ProviderSuite, VectorProviderSuite


class Suite(ProviderSuite):
    """A suite over a wrapper of a right provider; `faulty` overrides one of its verbs."""

    kind = WrappingProvider

    @pytest.fixture
    def provider(self):
        return self.kind()

    @pytest.fixture
    def small_provider(self):
        return self.kind(InMemoryMemory(max_items=3))


class OldestFirst(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        return (await super().list(scope_key, limit=limit, query=query))[::-1]


class TestOldestFirst(Suite):
    kind = OldestFirst


class InventsIds(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        item = await super().add(scope_key, text, metadata=metadata)
        return item.model_copy(update={"id": item.id + "x"})


class TestInventsIds(Suite):
    kind = InventsIds


class TestStoresTwice(Suite):
    @pytest.fixture
    def provider(self):
        return MinimalProvider()


class Refreshes(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        for item in await super().list(scope_key):
            if item.text == text:
                await super().remove(scope_key, item.id)
        return await super().add(scope_key, text, metadata=metadata)


class TestRefreshes(Suite):
    kind = Refreshes


class SharesKeys(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        await self._inner.add("shared", text, metadata=metadata)
        return await super().add(scope_key, text, metadata=metadata)

    async def list(self, scope_key, *, limit=None, query=None):
        own = await super().list(scope_key, limit=limit, query=query)
        return own or await super().list("shared", limit=limit, query=query)


class TestSharesKeys(Suite):
    kind = SharesKeys


class IgnoresCase(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        return await super().list(scope_key and scope_key.lower(), limit=limit, query=query)

    async def add(self, scope_key, text, *, metadata=None):
        return await super().add(scope_key and scope_key.lower(), text, metadata=metadata)

    async def remove(self, scope_key, item_id):
        return await super().remove(scope_key and scope_key.lower(), item_id)


class TestIgnoresCase(Suite):
    kind = IgnoresCase


class IgnoresTheLimit(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        return await super().list(scope_key, query=query)


class TestIgnoresTheLimit(Suite):
    kind = IgnoresTheLimit


class TakesAnyLimit(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        return list(await super().list(scope_key, query=query))[: None if limit is None else int(limit)]


class TestTakesAnyLimit(Suite):
    kind = TakesAnyLimit


class FallsBackToAll(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        found = await super().list(scope_key, limit=limit, query=query)
        return found or await super().list(scope_key, limit=limit)


class TestFallsBackToAll(Suite):
    kind = FallsBackToAll


class FindsParts(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        items = await super().list(scope_key, limit=limit)
        return [item for item in items if not query or query.lower() in item.text.lower()]


class TestFindsParts(Suite):
    kind = FindsParts


class ForgetsMetadata(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        return await super().add(scope_key, text)


class TestForgetsMetadata(Suite):
    kind = ForgetsMetadata


class PretendsToRemove(WrappingProvider):
    async def remove(self, scope_key, item_id):
        return any(item.id == item_id for item in await super().list(scope_key))


class TestPretendsToRemove(Suite):
    kind = PretendsToRemove


class DropsTheNewest(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        items = await super().list(scope_key)
        if len(items) == 3 and self._inner.max_items == 3:
            await super().remove(scope_key, items[0].id)
        return await super().add(scope_key, text, metadata=metadata)


class TestDropsTheNewest(Suite):
    kind = DropsTheNewest


class TestForgetsAll(Suite):
    @pytest.fixture
    def reopened(self):
        return InMemoryMemory


class VectorSuite(VectorProviderSuite):
    kind = WrappingProvider
    test_the_provider_says_that_it_ranks_by_meaning = None

    @pytest.fixture
    def provider(self, embedder):
        return self.kind(InMemoryVectorMemory(embedder=embedder))


class SwallowsFailures(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        embedder, self._inner.embedder = self._inner.embedder, HashEmbedder(4)
        try:
            return await super().add(scope_key, text, metadata=metadata)
        finally:
            self._inner.embedder = embedder


class TestSwallowsFailures(VectorSuite):
    kind = SwallowsFailures


class InvertsScores(WrappingProvider):
    async def list(self, scope_key, *, limit=None, query=None):
        items = await super().list(scope_key, limit=limit, query=query)
        return [item if item.score is None else item.model_copy(update={"score": 1 - item.score}) for item in items]


class TestInvertsScores(VectorSuite):
    kind = InvertsScores


class EmbedsTwice(WrappingProvider):
    async def add(self, scope_key, text, *, metadata=None):
        await self._inner.embedder.embed([text])
        return await super().add(scope_key, text, metadata=metadata)


class TestEmbedsTwice(VectorSuite):
    kind = EmbedsTwice


class Doubles(HashEmbedder):
    async def embed(self, texts, *, kind="document"):
        return (await super().embed(texts)).astype(np.float64)


class TestDoubles(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return Doubles()


class Reversed(HashEmbedder):
    async def embed(self, texts, *, kind="document"):
        return (await super().embed(texts))[::-1]


class TestReversed(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return Reversed()


class Random(HashEmbedder):
    async def embed(self, texts, *, kind="document"):
        return np.random.default_rng().random((len(texts), self.dimensions), np.float32)


class TestRandom(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return Random()


class Constant(HashEmbedder):
    async def embed(self, texts, *, kind="document"):
        return np.ones((len(texts), self.dimensions), np.float32)


class TestConstant(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return Constant()
