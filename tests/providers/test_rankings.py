"""Vector providers by words and by both: the same answers on every store."""

import asyncio

import pytest

from embedders import HashEmbedder
from tests.chat.models import Marked
from vectormem import InMemoryVectorMemory, MemoryInvalidError, SqliteMemory, SqliteStore, SqliteVectorMemory

PLACES = ["memory", "sqlite"]


def memory(place: str, model: object = None, **options: object):
    made = {"embedder": model or Marked(), **options}
    return InMemoryVectorMemory(**made) if place == "memory" else SqliteVectorMemory(":memory:", **made)


@pytest.mark.parametrize("place", PLACES)
def test_keyword_ranking_embeds_no_query_and_gives_no_score(place: str) -> None:
    async def main() -> None:
        model = Marked()
        items = memory(place, model, ranking="keyword")
        await items.add_many("k", ["the violin concert", "dinner afterwards", "violin strings and violin bows"])
        model.fails = True
        found = await items.list("k", query="Which violins?")
        assert [(one.text, one.score, one.metadata) for one in found] == [
            ("violin strings and violin bows", None, None),
            ("the violin concert", None, None),
        ]
        assert [one.text for one in await items.list("k", query="violin", limit=1)] == [found[0].text]
        assert await items.list("k", query="nothing of that") == []
        assert not items.ranks_by_meaning

    asyncio.run(main())


@pytest.mark.parametrize("place", PLACES)
def test_hybrid_ranking_adds_words_and_meaning_and_the_score_stays_the_cosine(place: str) -> None:
    async def main() -> None:
        items = memory(place, ranking="hybrid")
        await items.add_many(
            "k", ["the garden gate cos=0.50", "a kitchen cos=0.60", "my garden cos=0.25", "sea cos=0.10"]
        )
        found = await items.list("k", query="garden")
        assert found[0].text == "the garden gate cos=0.50"
        assert {one.text: one.score for one in found} == {
            "the garden gate cos=0.50": pytest.approx(0.5),
            "my garden cos=0.25": pytest.approx(0.25),
            "a kitchen cos=0.60": pytest.approx(0.6),
        }
        assert items.ranks_by_meaning

    asyncio.run(main())


@pytest.mark.parametrize("place", PLACES)
def test_a_rare_word_admits_an_item_below_the_score(place: str) -> None:
    async def main() -> None:
        items = memory(place, ranking="hybrid", min_score=0.3)
        await items.add_many("k", ["Ingeborg came by cos=0.01", *(f"tea, number {n} cos=0.05" for n in range(40))])
        found = await items.list("k", query="tea with Ingeborg", limit=5)
        assert [(one.text, one.score) for one in found] == [("Ingeborg came by cos=0.01", pytest.approx(0.01))]

    asyncio.run(main())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("limit", [1, 3, None])
def test_the_limit_is_honoured(place: str, limit: int | None) -> None:
    async def main() -> None:
        for ranking in ("vector", "keyword", "hybrid"):
            items = memory(place, ranking=ranking)
            await items.add_many("k", [f"tea, number {n} cos=0.90" for n in range(5)])
            assert len(await items.list("k", query="tea", limit=limit)) == (limit or 5)

    asyncio.run(main())


@pytest.mark.parametrize("place", PLACES)
def test_keys_are_apart_in_every_ranking(place: str) -> None:
    async def main() -> None:
        for ranking in ("keyword", "hybrid"):
            items = memory(place, HashEmbedder(), ranking=ranking)
            await items.add("ada", "green tea")
            await items.add("bob", "black tea")
            assert [one.text for one in await items.list("ada", query="black tea")] == ["green tea"]
            assert await items.list("eve", query="black tea") == []

    asyncio.run(main())


def test_more_matches_in_words_than_candidates_by_meaning_are_scored_too() -> None:
    async def main() -> None:
        items = memory("sqlite", ranking="hybrid", min_score=-1)
        near = [f"nearby matter number {n} cos=0.40" for n in range(250)]
        await items.add_many("k", ["a far violin cos=-0.50", *near, "the nearest cos=0.90"])
        found = await items.list("k", query="violin", limit=2)
        assert {one.text: one.score for one in found} == {
            "a far violin cos=-0.50": pytest.approx(-0.5),
            "the nearest cos=0.90": pytest.approx(0.9),
        }

    asyncio.run(main())


def test_an_item_without_a_vector_is_found_by_its_words() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await SqliteMemory(store).add("k", "Ingeborg came by")
            items = SqliteVectorMemory(store, embedder=Marked(), ranking="hybrid")
            assert [(one.text, one.score) for one in await items.list("k", query="Ingeborg?")] == [
                ("Ingeborg came by", None)
            ]

    asyncio.run(main())


@pytest.mark.parametrize("place", PLACES)
def test_both_stores_rank_alike(place: str) -> None:
    texts = [f"{a} {b} {c}" for a in ("tea", "tree") for b in ("garden", "lamp") for c in ("red", "blue", "old")]

    async def main() -> None:
        for ranking in ("keyword", "hybrid"):
            answers = []
            for one in ("memory", "sqlite"):
                items = memory(one, HashEmbedder(), ranking=ranking)
                await items.add_many("k", texts)
                answers.append(
                    [(i.text, i.score) for i in await items.list("k", query="an old tea lamp in the garden")]
                )
            assert answers[0] == answers[1]
            assert answers[0]

    asyncio.run(main())


def test_an_unknown_ranking_is_refused() -> None:
    with pytest.raises(MemoryInvalidError, match="ranking must be"):
        InMemoryVectorMemory(embedder=HashEmbedder(), ranking="best")
