"""Searching by meaning: what counts, how much of it, and in which order."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta

import pytest

from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, EmbeddingError, MemoryInvalidError, SqliteStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_matches_come_with_their_cosines_the_most_similar_first() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, "one cos=0.50", "two cos=0.90", "three cos=0.70")
        found = await chat.search_messages("anything")
        assert [(one.text, one.similarity) for one in found] == [
            ("two cos=0.90", pytest.approx(0.9)),
            ("three cos=0.70", pytest.approx(0.7)),
            ("one cos=0.50", pytest.approx(0.5)),
        ]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("threshold", "kept"), [(0.3, ["0.35", "0.30"]), (0.4, []), (0.35, ["0.35"]), (0, ["0.35", "0.30", "0.29"])]
)
def test_the_threshold_is_inclusive(threshold: float, kept: list[str]) -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, "some text cos=0.29", "some text cos=0.30", "some text cos=0.35", "some text cos=-0.10")
        found = await chat.search_messages("anything", min_similarity=threshold)
        assert contents(found) == [f"some text cos={one}" for one in kept]

    asyncio.run(main())


def test_eight_matches_of_at_least_three_tenths_are_the_default() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"message {place:02} cos=0.90" for place in range(12)], "message 12 cos=0.29")
        found = await chat.search_messages("anything")
        assert contents(found) == [f"message {place:02} cos=0.90" for place in range(11, 3, -1)]

    asyncio.run(main())


@pytest.mark.parametrize("limit", [1, 5, 9, 100])
def test_the_limit_is_honoured(limit: int) -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"message {place:02} cos=0.{90 - place}" for place in range(12)])
        found = await chat.search_messages("anything", limit=limit)
        assert contents(found) == [f"message {place:02} cos=0.{90 - place}" for place in range(min(limit, 12))]

    asyncio.run(main())


def test_newer_messages_come_first_among_equals() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *["the very same text cos=0.80"] * 5)
        ids = [one.id for one in await chat.messages("c")]
        assert [one.message.id for one in await chat.search_messages("anything", limit=3)] == ids[:1:-1]

    asyncio.run(main())


def test_an_excluded_conversation_takes_no_places() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"current chat {place:02} cos=0.95" for place in range(24)], conversation="now")
        await fill(chat, "said earlier cos=0.50", "said before cos=0.40", conversation="then")
        found = await chat.search_messages("anything", exclude_conversation_id="now", limit=5, min_similarity=0.4)
        assert contents(found) == ["said earlier cos=0.50", "said before cos=0.40"]

    asyncio.run(main())


def test_other_roles_take_no_places() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"an answer {place:02} cos=0.95" for place in range(24)], role="assistant")
        await fill(chat, "a wish cos=0.50")
        await fill(chat, "an order cos=0.40", role="system")
        assert contents(await chat.search_messages("anything", roles=["user"], limit=3)) == ["a wish cos=0.50"]
        both = await chat.search_messages("anything", roles={"user", "system"}, limit=3)
        assert contents(both) == ["a wish cos=0.50", "an order cos=0.40"]
        assert await chat.search_messages("anything", roles=[]) == []
        assert await chat.search_messages("anything", roles=["tool"]) == []

    asyncio.run(main())


def test_one_conversation_can_be_searched_alone() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"elsewhere {place:02} cos=0.95" for place in range(24)], conversation="a")
        await fill(chat, "said here cos=0.40", conversation="b")
        assert contents(await chat.search_messages("anything", conversation_id="b", limit=2)) == ["said here cos=0.40"]
        assert await chat.search_messages("anything", conversation_id="unknown") == []

    asyncio.run(main())


def test_the_order_of_time_changes_no_selection() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        for hour, cosine in ((5, "0.90"), (3, "0.60"), (4, "0.80"), (1, "0.40"), (2, "0.70")):
            moment = NOON + timedelta(hours=hour)
            await chat.save_message("c", "user", f"at {hour} cos={cosine}", created_at=moment)
        found = await chat.search_messages("anything", limit=3, sort_by="chronological")
        assert contents(found) == ["at 2 cos=0.70", "at 4 cos=0.80", "at 5 cos=0.90"]

    asyncio.run(main())


def test_a_long_message_is_returned_once_with_its_best_passage() -> None:
    async def main() -> None:
        filler = "This sentence says nothing of interest at all. " * 10
        long = f"{filler}Here is what matters cos=0.90 to us. {filler}And here a bit cos=0.50 more. {filler}"
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, "a short one cos=0.60", long)
        found = await chat.search_messages("anything", limit=2)
        assert contents(found) == [long, "a short one cos=0.60"]
        assert found[0].similarity == pytest.approx(0.9)
        assert "cos=0.90" in found[0].text
        assert len(found[0].text) <= 400
        assert found[0].text in long

    asyncio.run(main())


def test_passages_of_a_few_messages_do_not_crowd_out_the_others() -> None:
    async def main() -> None:
        long = "Every sentence of this one is about it cos=0.90 indeed. " * 100
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"short message {place} cos=0.50" for place in range(4)], long)
        found = await chat.search_messages("anything", limit=4)
        assert contents(found) == [long, *(f"short message {place} cos=0.50" for place in (3, 2, 1))]

    asyncio.run(main())


def test_context_gives_the_messages_around_a_match() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, "zero", "one", "two cos=0.90", "three", "four")
        await fill(chat, "elsewhere", conversation="d")
        around = [
            [one.content for one in (await chat.search_messages("anything", context=n))[0].context] for n in (0, 1, 9)
        ]
        assert around == [
            [],
            ["one", "two cos=0.90", "three"],
            ["zero", "one", "two cos=0.90", "three", "four"],
        ]

    asyncio.run(main())


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": " \n"},
        {"query": None},
        {"query": 7},
        {"limit": 0},
        {"limit": -1},
        {"limit": True},
        {"limit": 1.5},
        {"min_similarity": -0.1},
        {"min_similarity": 1.1},
        {"min_similarity": float("nan")},
        {"min_similarity": "0.3"},
        {"sort_by": "newest"},
        {"context": -1},
        {"roles": "user"},
        {"roles": [1]},
        {"exclude_conversation_id": ""},
        {"conversation_id": 5},
    ],
)
def test_wrong_arguments_are_refused_without_an_embedding_call(wrong: dict) -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model)
        with pytest.raises(MemoryInvalidError):
            await chat.search_messages(**{"query": "tea", **wrong})
        assert model.calls == []

    asyncio.run(main())


def test_a_query_is_embedded_as_a_query_once() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model)
        await fill(chat, "said before cos=0.90")
        await chat.search_messages("what was said?")
        assert model.calls == [("document", ["said before cos=0.90"]), ("query", ["what was said?"])]

    asyncio.run(main())


def test_a_query_that_cannot_be_embedded_raises() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model)
        model.fails = True
        with pytest.raises(EmbeddingError, match="the model is gone"):
            await chat.search_messages("what was said?")

    asyncio.run(main())


def test_vectors_of_another_embedder_are_skipped_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await fill(ChatStorage(store, embedder=Marked("old", dimensions=3)), "said first cos=0.90", "ok")
            new = ChatStorage(store, embedder=Marked("new"))
            await fill(new, "said later cos=0.80")
            with caplog.at_level(logging.WARNING, "vectormem"):
                assert contents(await new.search_messages("anything")) == ["said later cos=0.80"]
                await new.search_messages("anything")
            (warning,) = (record.getMessage() for record in caplog.records)
            assert warning == (
                "chats of 'global': searches skip 1 messages that 'new' (2 d) has not embedded: "
                "1 of 'old' (3 d); embed_pending() adds them"
            )
            assert len(await new.messages("c")) == 3
            assert await new.embed_pending() == 1
            assert contents(await new.search_messages("anything")) == ["said first cos=0.90", "said later cos=0.80"]

    asyncio.run(main())


def test_a_zero_query_finds_nothing() -> None:
    async def main() -> None:
        class Silent(Marked):
            def _vector(self, text: str, kind: str) -> list[float]:
                return [0.0, 0.0] if kind == "query" else [1.0, 0.0]

        chat = ChatStorage(":memory:", embedder=Silent())
        await fill(chat, "said before cos=0.90")
        assert await chat.search_messages("anything", min_similarity=0) == []

    asyncio.run(main())


def test_an_empty_memory_finds_nothing() -> None:
    async def main() -> None:
        for ranking in ("vector", "keyword", "hybrid"):
            chat = ChatStorage(":memory:", embedder=Marked(), ranking=ranking)
            assert await chat.search_messages("anything", context=2) == []

    asyncio.run(main())
