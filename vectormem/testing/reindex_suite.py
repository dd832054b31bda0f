"""The rules for items whose vectors another embedder has made."""

from typing import cast

import pytest

from vectormem.errors import EmbeddingError
from vectormem.providers.protocol import MemoryProvider
from vectormem.providers.vector import VectorProvider
from vectormem.testing.embedder import ScriptedEmbedder
from vectormem.testing.suite import BAD_KEYS, KEY, OTHER_KEY, Reopen, VectorFixtures, add_all, refuses, texts, verbs

_OLD = {"query": (1.0, 0.0), "tea": (1.0, 0.0), "oolong": (0.9, 0.1), "new": (0.8, 0.2)}


class ReindexSuite(VectorFixtures):
    """Vectors are compared only where one embedder made them; `reindex` makes the others anew."""

    @pytest.fixture
    def embedder(self) -> ScriptedEmbedder:
        """Return the embedder of the tests."""
        return ScriptedEmbedder(_OLD)

    @pytest.fixture
    def successor(self) -> ScriptedEmbedder:
        """Return an embedder with another id, of as many dimensions, that sees everything alike."""
        return ScriptedEmbedder(_OLD, id="successor")

    async def test_items_of_another_embedder_are_not_ranked_and_still_listed(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        stored = await add_all(provider, KEY, "tea", "oolong")
        changed = reopened(successor)
        assert texts(await changed.list(KEY, query="query")) == []
        assert list(await changed.list(KEY)) == stored[::-1]

    async def test_new_items_are_ranked_beside_old_ones_that_are_not(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        await add_all(provider, KEY, "tea", "oolong")
        changed = reopened(successor)
        await changed.add(KEY, "new")
        assert texts(await changed.list(KEY, query="query")) == ["new"]
        assert texts(await changed.list(KEY)) == ["new", "oolong", "tea"]

    async def test_the_old_embedder_still_ranks_its_own(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        await provider.add(KEY, "tea")
        await reopened(successor).add(KEY, "new")
        assert texts(await provider.list(KEY, query="query")) == ["tea"]

    async def test_items_of_another_length_are_not_ranked(self, provider: MemoryProvider, reopened: Reopen) -> None:
        await provider.add(KEY, "tea")
        longer = reopened(ScriptedEmbedder(_OLD, dimensions=6))
        await longer.add(KEY, "new")
        assert texts(await longer.list(KEY, query="query")) == ["new"]

    async def test_reindex_makes_old_items_rank_again_and_tells_how_many(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        await add_all(provider, KEY, "tea", "oolong")
        changed = _reindexing(reopened(successor))
        await changed.add(KEY, "new")
        assert await changed.reindex(KEY) == 2
        assert texts(await changed.list(KEY, query="query")) == ["tea", "oolong", "new"]
        assert await changed.reindex(KEY) == 0

    async def test_reindex_keeps_ids_times_metadata_and_order(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        await provider.add(KEY, "tea", metadata={"source": "chat"})
        await provider.add(KEY, "oolong")
        before = list(await provider.list(KEY))
        changed = _reindexing(reopened(successor))
        await changed.reindex()
        assert list(await changed.list(KEY)) == before

    async def test_reindex_of_one_key_leaves_the_others(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        await add_all(provider, KEY, "tea", "oolong")
        await provider.add(OTHER_KEY, "tea")
        changed = _reindexing(reopened(successor))
        assert await changed.reindex(OTHER_KEY) == 1
        assert texts(await changed.list(OTHER_KEY, query="query")) == ["tea"]
        assert texts(await changed.list(KEY, query="query")) == []

    async def test_reindex_without_a_key_does_all_of_them(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        await add_all(provider, KEY, "tea", "oolong")
        await provider.add(OTHER_KEY, "tea")
        changed = _reindexing(reopened(successor))
        assert await changed.reindex() == 3
        assert texts(await changed.list(KEY, query="query")) == ["tea", "oolong"]
        assert texts(await changed.list(OTHER_KEY, query="query")) == ["tea"]

    async def test_reindex_repairs_vectors_of_another_length_under_the_same_id(
        self, provider: MemoryProvider, reopened: Reopen
    ) -> None:
        await add_all(provider, KEY, "tea", "oolong")
        longer = _reindexing(reopened(ScriptedEmbedder(_OLD, dimensions=6)))
        assert await longer.reindex(KEY) == 2
        assert texts(await longer.list(KEY, query="query")) == ["tea", "oolong"]
        assert await longer.reindex(KEY) == 0

    async def test_reindex_works_in_batches_of_what_the_embedder_takes(
        self, provider: MemoryProvider, reopened: Reopen
    ) -> None:
        await add_all(provider, KEY, *(f"item {n}" for n in range(5)))
        successor = ScriptedEmbedder(id="successor", max_batch=2)
        await _reindexing(reopened(successor)).reindex(KEY)
        assert [kind for _, kind in successor.calls] == ["document"] * len(successor.calls)
        assert [text for batch, _ in successor.calls for text in batch] == [f"item {n}" for n in range(5)]
        assert max(len(batch) for batch, _ in successor.calls) == 2

    async def test_reindex_reports_its_progress_up_to_the_end(self, provider: MemoryProvider, reopened: Reopen) -> None:
        await add_all(provider, KEY, *(f"item {n}" for n in range(5)))
        changed, seen = _reindexing(reopened(ScriptedEmbedder(id="successor", max_batch=2))), []
        await changed.reindex(KEY, on_progress=lambda done, total: seen.append((done, total)))
        assert seen == [(2, 5), (4, 5), (5, 5)]

    async def test_a_reindex_that_fails_raises_and_goes_on_next_time(
        self, provider: MemoryProvider, reopened: Reopen
    ) -> None:
        stored = await add_all(provider, KEY, *(f"item {n}" for n in range(5)))
        successor = ScriptedEmbedder(id="successor", max_batch=2)
        changed = _reindexing(reopened(successor))
        successor.answer = lambda texts: []
        with pytest.raises(EmbeddingError):
            await changed.reindex()
        assert list(await changed.list(KEY)) == stored[::-1]
        successor.answer = None
        assert await changed.reindex() == 5

    async def test_an_upsert_of_an_old_items_text_embeds_it_anew(
        self, provider: MemoryProvider, reopened: Reopen, successor: ScriptedEmbedder
    ) -> None:
        item = await provider.add(KEY, "tea")
        changed = verbs(reopened(successor), "upsert")
        await changed.upsert(KEY, "tea", id=item.id)
        assert successor.calls == [(["tea"], "document")]
        assert texts(await changed.list(KEY, query="query")) == ["tea"]

    async def test_a_reindex_with_nothing_to_do_embeds_nothing(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = _reindexing(provider)
        await memory.add(KEY, "tea")
        embedder.calls.clear()
        assert await memory.reindex() == 0
        assert await memory.reindex("notes#unused") == 0
        assert embedder.calls == []

    @pytest.mark.parametrize("key", BAD_KEYS[1:])
    async def test_reindex_refuses_a_key_that_cannot_be_stored(self, provider: MemoryProvider, key: str) -> None:
        await refuses(_reindexing(provider).reindex(key))


def _reindexing(provider: MemoryProvider) -> VectorProvider:
    return cast("VectorProvider", verbs(provider, "reindex"))
