"""The rules by which vector providers call their embedder, and what they do when it fails."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from vectormem.errors import EmbeddingError
from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.embedder import ScriptedEmbedder
from vectormem.testing.suite import KEY, VectorFixtures, add_all, texts, verbs


def _raise(_: Sequence[str]) -> None:
    raise OSError("the model server is down")


FAILURES: dict[str, Callable[[Sequence[str]], object]] = {
    "raises": _raise,
    "no vectors": lambda texts: [],
    "None": lambda texts: None,
    "one vector too few": lambda texts: np.ones((len(texts) - 1, 4)),
    "one vector too many": lambda texts: np.ones((len(texts) + 1, 4)),
    "one vector, not a list": lambda texts: np.ones(4),
    "no dimensions": lambda texts: np.ones((len(texts), 0)),
    "three axes": lambda texts: np.ones((len(texts), 2, 2)),
    "ragged": lambda texts: [[1.0] * (4 + n) for n, _ in enumerate([*texts, "more"])],
    "NaN": lambda texts: np.full((len(texts), 4), np.nan),
    "infinity": lambda texts: np.full((len(texts), 4), np.inf),
    "text": lambda texts: [["a", "b"] for _ in texts],
    "truth values": lambda texts: [[True, False] for _ in texts],
}


class EmbeddingSuite(VectorFixtures):
    """One call for each add and each query, none where nothing is new, and no half change on failure."""

    async def test_an_add_embeds_the_text_as_a_document(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        await provider.add(KEY, "likes tea")
        assert embedder.calls == [(["likes tea"], "document")]

    async def test_a_query_is_embedded_as_a_query(self, provider: MemoryProvider, embedder: ScriptedEmbedder) -> None:
        await add_all(provider, KEY, "likes tea", "lives in Oslo")
        embedder.calls.clear()
        await provider.list(KEY, query="tea")
        assert embedder.calls == [(["tea"], "query")]

    @pytest.mark.parametrize("query", [None, "", " \n\u2003"])
    async def test_a_listing_embeds_nothing(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder, query: str | None
    ) -> None:
        await provider.add(KEY, "likes tea")
        embedder.calls.clear()
        await provider.list(KEY, query=query)
        assert embedder.calls == []

    async def test_a_text_that_is_stored_is_not_embedded_again(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        await provider.add(KEY, "likes tea")
        embedder.calls.clear()
        await provider.add(KEY, "likes tea", metadata={"source": "chat"})
        assert embedder.calls == []

    async def test_an_upsert_embeds_only_a_text_that_changes(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "upsert")
        item = await memory.add(KEY, "likes tea")
        embedder.calls.clear()
        await memory.upsert(KEY, "likes tea", id=item.id, metadata={"sure": True})
        assert embedder.calls == []
        await memory.upsert(KEY, "likes coffee", id=item.id)
        assert embedder.calls == [(["likes coffee"], "document")]

    async def test_an_upsert_replaces_the_vector_with_the_text(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "upsert")
        embedder.vectors = {"rabbit": (1, 0), "a grey rabbit": (1, 0), "horse": (0, 1), "a brown horse": (0, 1)}
        item = await memory.add(KEY, "a grey rabbit")
        await memory.upsert(KEY, "a brown horse", id=item.id)
        assert texts(await memory.list(KEY, query="horse")) == ["a brown horse"]
        assert texts(await memory.list(KEY, query="rabbit")) == []

    async def test_add_many_embeds_only_new_texts_in_batches_of_what_the_embedder_takes(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "add_many")
        await memory.add(KEY, "two")
        embedder.calls.clear()
        embedder.max_batch = 2
        await memory.add_many(KEY, ["one", "two", "three", "one", "four", "five", "six"])
        assert embedder.calls == [
            (["one", "three"], "document"),
            (["four", "five"], "document"),
            (["six"], "document"),
        ]

    async def test_each_text_of_a_batch_gets_its_own_vector(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "add_many")
        embedder.max_batch = 2
        embedder.vectors = {f"item {n}": [n == position for position in range(4)] for n in range(4)}
        await memory.add_many(KEY, [f"item {n}" for n in range(4)])
        found = [texts(await memory.list(KEY, query=f"item {n}")) for n in range(4)]
        assert found == [["item 0"], ["item 1"], ["item 2"], ["item 3"]]

    @pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
    async def test_an_add_whose_embedding_fails_stores_nothing(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder, failure: Callable[[Sequence[str]], Any]
    ) -> None:
        kept = await provider.add(KEY, "kept")
        embedder.answer = failure
        with pytest.raises(EmbeddingError):
            await provider.add(KEY, "likes tea")
        assert list(await provider.list(KEY)) == [kept]

    @pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
    async def test_a_query_whose_embedding_fails_raises(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder, failure: Callable[[Sequence[str]], Any]
    ) -> None:
        await provider.add(KEY, "likes tea")
        embedder.answer = failure
        with pytest.raises(EmbeddingError):
            await provider.list(KEY, query="tea")

    async def test_after_a_failure_the_next_call_works(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.answer = _raise
        with pytest.raises(EmbeddingError):
            await provider.add(KEY, "likes tea")
        embedder.answer = None
        item = await provider.add(KEY, "likes tea")
        assert list(await provider.list(KEY)) == [item]

    async def test_an_upsert_whose_embedding_fails_leaves_item_and_vector_as_they_were(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "upsert")
        embedder.vectors = {"rabbit": (1, 0), "a grey rabbit": (1, 0), "horse": (0, 1), "a brown horse": (0, 1)}
        kept = await memory.add(KEY, "a grey rabbit", metadata={"n": 1})
        embedder.answer = _raise
        with pytest.raises(EmbeddingError):
            await memory.upsert(KEY, "a brown horse", id=kept.id)
        embedder.answer = None
        assert list(await memory.list(KEY)) == [kept]
        assert texts(await memory.list(KEY, query="rabbit")) == ["a grey rabbit"]
        assert texts(await memory.list(KEY, query="horse")) == []

    async def test_add_many_stores_nothing_where_a_later_batch_fails(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "add_many")
        embedder.max_batch = 2
        embedder.answer = lambda texts: _raise(texts) if "three" in texts else np.ones((len(texts), 4))
        with pytest.raises(EmbeddingError):
            await memory.add_many(KEY, ["one", "two", "three"])
        assert list(await memory.list(KEY)) == []

    async def test_adds_at_the_same_time_keep_each_vector_with_its_text(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.dimensions = 20
        embedder.vectors = {f"item {n}": [n == position for position in range(20)] for n in range(20)}
        await asyncio.gather(*(provider.add(KEY, f"item {n}") for n in range(20)))
        found = [texts(await provider.list(KEY, query=f"item {n}")) for n in range(20)]
        assert found == [[f"item {n}"] for n in range(20)]
