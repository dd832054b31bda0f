"""The rules by which vector providers choose and order what they find."""

import pytest

from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.embedder import ScriptedEmbedder
from vectormem.testing.suite import KEY, OTHER_KEY, Reopen, VectorFixtures, add_all, texts, verbs

_EAST = (1.0, 0.0)


class ScoresSuite(VectorFixtures):
    """Items come back by cosine similarity, those below 0.2 left out, each with its score."""

    async def test_the_nearest_item_comes_first_with_its_cosine(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": (2, 0), "far": (3, 4), "near": (40, 30), "nearest": (0.5, 0)}
        await add_all(provider, KEY, "far", "nearest", "near")
        found = await provider.list(KEY, query="query")
        assert texts(found) == ["nearest", "near", "far"]
        assert [item.score for item in found] == pytest.approx([1.0, 0.8, 0.6], abs=1e-6)

    async def test_vectors_of_any_length_give_cosines(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": (30, 40), "same way": (3, 4), "across": (4, -3), "tiny": (3e-30, 4e-30)}
        await add_all(provider, KEY, "same way", "across", "tiny")
        found = await provider.list(KEY, query="query")
        assert texts(found) == ["tiny", "same way"]
        assert [item.score for item in found] == pytest.approx([1.0, 1.0], abs=1e-6)

    async def test_no_score_lies_above_one(self, provider: MemoryProvider, embedder: ScriptedEmbedder) -> None:
        vectors = {f"item {n}": (n + 0.1, 1 / (n + 1), 0.3 * n, 0.7) for n in range(20)}
        embedder.vectors = {**vectors}
        await add_all(provider, KEY, *vectors)
        for text in vectors:
            best = (await provider.list(KEY, query=text, limit=1))[0]
            assert best.score == pytest.approx(1.0, abs=1e-6)
            assert best.score is not None
            assert best.score <= 1.0

    async def test_items_below_the_least_score_are_left_out(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "at": _at(0.2), "above": _at(0.21), "below": _at(0.19), "behind": _at(-1.0)}
        await add_all(provider, KEY, "at", "above", "below", "behind")
        assert texts(await provider.list(KEY, query="query")) == ["above", "at"]

    async def test_nothing_near_enough_means_nothing_found(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "far": (0, 1)}
        await provider.add(KEY, "far")
        assert texts(await provider.list(KEY, query="query")) == []

    async def test_equal_scores_are_newest_first(self, provider: MemoryProvider, embedder: ScriptedEmbedder) -> None:
        embedder.vectors = {"query": _EAST, "a": (2, 1), "b": (4, 2), "c": (2, 1), "d": (2, 1), "best": (9, 1)}
        await add_all(provider, KEY, "a", "best", "b", "c", "d")
        assert texts(await provider.list(KEY, query="query")) == ["best", "d", "c", "b", "a"]

    async def test_a_limit_takes_the_newest_of_equal_scores(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "a": (1, 1), "b": (1, 1), "c": (1, 1)}
        await add_all(provider, KEY, "a", "b", "c")
        assert [texts(await provider.list(KEY, query="query", limit=2)) for _ in range(5)] == [["c", "b"]] * 5

    async def test_a_limit_takes_the_best(self, provider: MemoryProvider, embedder: ScriptedEmbedder) -> None:
        embedder.vectors = {"query": _EAST, **{f"item {n}": _at(n / 40) for n in range(40)}}
        await add_all(provider, KEY, *(f"item {n * 7 % 40}" for n in range(40)))
        found = texts(await provider.list(KEY, query="query", limit=5))
        assert found == ["item 39", "item 38", "item 37", "item 36", "item 35"]

    async def test_results_are_the_stored_items_with_a_score(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": (1, 0), "near": (3, 4)}
        stored = await provider.add(KEY, "near", metadata={"source": "chat"})
        found = (await provider.list(KEY, query="query"))[0]
        assert (found.id, found.text, found.created_at) == (stored.id, "near", stored.created_at)
        assert found.score == pytest.approx(0.6, abs=1e-6)
        assert found.metadata == {"source": "chat", "score": found.score}

    async def test_an_item_without_metadata_gets_its_score_there_too(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "near": _EAST}
        await provider.add(KEY, "near")
        assert (await provider.list(KEY, query="query"))[0].metadata == {"score": 1.0}

    async def test_a_score_of_the_users_own_is_not_overwritten(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "near": _EAST}
        await provider.add(KEY, "near", metadata={"score": "mine"})
        found = (await provider.list(KEY, query="query"))[0]
        assert (found.score, found.metadata) == (1.0, {"score": "mine"})

    async def test_a_score_is_never_stored(self, provider: MemoryProvider, embedder: ScriptedEmbedder) -> None:
        embedder.vectors = {"query": _EAST, "near": _EAST}
        await provider.add(KEY, "near")
        await provider.list(KEY, query="query")
        listed = (await provider.list(KEY))[0]
        assert (listed.score, listed.metadata) == (None, None)

    async def test_restored_results_of_a_query_are_stored_without_their_scores(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "restore")
        embedder.vectors = {"query": _EAST, "near": _EAST, "also near": _at(0.5)}
        await memory.add(KEY, "near")
        await memory.add(KEY, "also near", metadata={"score": 7})
        await memory.restore(OTHER_KEY, await memory.list(KEY, query="query"))
        assert {item.text: item.metadata for item in await memory.list(OTHER_KEY)} == {
            "near": None,
            "also near": {"score": 7},
        }

    async def test_a_query_ranks_the_items_of_its_key_only(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "same": _EAST, "mine": _at(0.5)}
        await add_all(provider, OTHER_KEY, "same", "mine")
        mine = await provider.add(KEY, "mine")
        assert [item.id for item in await provider.list(KEY, query="query")] == [mine.id]

    async def test_nearer_items_of_other_keys_take_no_places(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, **{f"mine {n}": _at(0.3 + n / 100) for n in range(5)}}
        embedder.vectors |= {f"theirs {n}": _at(0.9) for n in range(50)}
        await add_all(provider, KEY, *(f"mine {n}" for n in range(5)))
        await add_all(provider, OTHER_KEY, *(f"theirs {n}" for n in range(50)))
        found = texts(await provider.list(KEY, query="query", limit=5))
        assert found == ["mine 4", "mine 3", "mine 2", "mine 1", "mine 0"]

    async def test_removed_items_take_no_places(self, provider: MemoryProvider, embedder: ScriptedEmbedder) -> None:
        embedder.vectors = {"query": _EAST, **{f"item {n}": _at(n / 10) for n in range(1, 11)}}
        items = await add_all(provider, KEY, *(f"item {n}" for n in range(1, 11)))
        await provider.list(KEY, query="query")
        for item in items[6:]:
            await provider.remove(KEY, item.id)
        found = texts(await provider.list(KEY, query="query", limit=5))
        assert found == ["item 6", "item 5", "item 4", "item 3", "item 2"]

    async def test_an_item_that_was_added_after_a_query_is_found(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "old": _at(0.5), "new": _at(0.6)}
        await provider.add(KEY, "old")
        await provider.list(KEY, query="query")
        await provider.add(KEY, "new")
        assert texts(await provider.list(KEY, query="query")) == ["new", "old"]

    async def test_a_cleared_key_has_nothing_to_find(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        memory = verbs(provider, "clear")
        embedder.vectors = {"query": _EAST, "old": _EAST, "new": _at(0.5)}
        await memory.add(KEY, "old")
        await memory.list(KEY, query="query")
        await memory.clear(KEY)
        assert texts(await memory.list(KEY, query="query")) == []
        await memory.add(KEY, "new")
        assert texts(await memory.list(KEY, query="query")) == ["new"]

    async def test_a_zero_vector_is_stored_and_never_found(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, "tea": _EAST, "blank": (0, 0), "oolong": (9, 1)}
        await add_all(provider, KEY, "tea", "blank", "oolong")
        assert texts(await provider.list(KEY, query="query", limit=2)) == ["tea", "oolong"]
        assert texts(await provider.list(KEY, query="query")) == ["tea", "oolong"]
        assert texts(await provider.list(KEY)) == ["oolong", "blank", "tea"]

    async def test_a_query_with_a_zero_vector_finds_nothing(
        self, provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": (0, 0), "tea": _EAST, "blank": (0, 0)}
        await add_all(provider, KEY, "tea", "blank")
        assert texts(await provider.list(KEY, query="query")) == []

    async def test_a_dropped_item_is_not_found(
        self, small_provider: MemoryProvider, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": _EAST, **dict.fromkeys(("one", "two", "three", "four"), _EAST)}
        await add_all(small_provider, KEY, "one", "two", "three")
        await small_provider.list(KEY, query="query")
        await small_provider.add(KEY, "four")
        assert texts(await small_provider.list(KEY, query="query")) == ["four", "three", "two"]

    async def test_items_keep_their_scores_after_reopening(
        self, provider: MemoryProvider, reopened: Reopen, embedder: ScriptedEmbedder
    ) -> None:
        embedder.vectors = {"query": (1, 2, 3, 4), **{f"item {n}": (n, 1, 2, 9 - n) for n in range(10)}}
        await add_all(provider, KEY, *(f"item {n}" for n in range(10)))
        found = list(await provider.list(KEY, query="query"))
        assert len(found) == 10
        again = await reopened().list(KEY, query="query")
        assert texts(again) == texts(found)
        assert [item.score for item in again] == pytest.approx([item.score for item in found], abs=1e-6)


def _at(cosine: float) -> tuple[float, float]:
    """Return a vector that has this cosine with the east."""
    return cosine, float((1 - cosine * cosine) ** 0.5)
