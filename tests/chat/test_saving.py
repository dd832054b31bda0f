"""Saving messages: stored first, embedded then, never lost."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta, timezone
from itertools import count

import pytest

from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, MemoryInvalidError, Message, SqliteStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_message_comes_back_as_it_was_saved() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked(), clock=lambda: NOON, new_id=lambda: "id-1")
        saved = await chat.save_message("c1", "user", "  Grüße, 世界! \n", metadata={"tokens": 3, "score": 1})
        expected = Message(
            id="id-1",
            conversation_id="c1",
            role="user",
            content="  Grüße, 世界! \n",
            created_at=NOON,
            metadata={"tokens": 3, "score": 1},
        )
        assert saved == expected
        assert await chat.messages("c1") == [expected]

    asyncio.run(main())


def test_a_message_is_stored_before_it_is_embedded() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            seen = []

            class Looking(Marked):
                async def embed(self, texts, *, kind="document"):
                    seen.extend(one.content for one in await ChatStorage(store, embedder=Marked()).messages("c"))
                    return await super().embed(texts, kind=kind)

            await ChatStorage(store, embedder=Looking()).save_message("c", "user", "stored already")
            assert seen == ["stored already"]

    asyncio.run(main())


def test_a_failing_embedder_costs_a_warning_and_no_message(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model)
        model.fails = True
        with caplog.at_level(logging.WARNING, "vectormem"):
            await chat.save_message("c", "user", "said while it failed cos=0.90")
        assert "the model is gone" in caplog.text
        assert contents_of(await chat.messages("c")) == ["said while it failed cos=0.90"]
        model.fails = False
        assert await chat.search_messages("anything") == []
        assert await chat.embed_pending() == 1
        assert contents(await chat.search_messages("anything")) == ["said while it failed cos=0.90"]

    asyncio.run(main())


@pytest.mark.parametrize("bad", [[[float("nan"), 1.0]], [], [[1.0, 0.0]] * 2, "text", [["a", "b"]]])
def test_an_embedder_that_returns_no_vectors_loses_no_message(bad: object) -> None:
    async def main() -> None:
        class Broken(Marked):
            async def embed(self, texts, *, kind="document"):
                return bad

        chat = ChatStorage(":memory:", embedder=Broken())
        await chat.save_message("c", "user", "a message of some length")
        assert contents_of(await chat.messages("c")) == ["a message of some length"]

    asyncio.run(main())


def test_short_messages_are_stored_and_not_embedded() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model)
        await fill(chat, "ok", "thanks", "nine char", "ten chars!", "   ok           ")
        assert len(await chat.messages("c")) == 5
        assert model.documents == ["ten chars!"]
        assert await chat.embed_pending() == 0

    asyncio.run(main())


def test_the_least_length_can_be_chosen() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model, min_content_length=0)
        await fill(chat, "ok", "", "  ")
        assert model.documents == ["ok"]
        assert contents_of(await chat.messages("c")) == ["ok", "", "  "]

    asyncio.run(main())


def test_without_auto_embedding_nothing_is_embedded_until_asked_for() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model, auto_embed_messages=False)
        await fill(chat, "first message cos=0.90", "second message cos=0.80")
        assert model.calls == []
        assert await chat.embed_pending() == 2
        assert len(await chat.search_messages("anything")) == 2

    asyncio.run(main())


def test_an_id_with_the_same_content_gives_the_stored_message() -> None:
    async def main() -> None:
        model, hours = Marked(), count()
        chat = ChatStorage(":memory:", embedder=model, clock=lambda: NOON + timedelta(hours=next(hours)))
        first = await chat.save_message("c", "user", "the same content", id="m1", metadata={"a": 1})
        again = await chat.save_message("c", "assistant", "the same content", id="m1")
        assert again == first
        assert await chat.messages("c") == [first]
        assert model.documents == ["the same content"]

    asyncio.run(main())


def test_an_id_with_other_content_replaces_the_message_and_its_vector() -> None:
    async def main() -> None:
        hours = count()
        chat = ChatStorage(":memory:", embedder=Marked(), clock=lambda: NOON + timedelta(hours=next(hours)))
        await chat.save_message("c", "user", "before it was edited cos=0.90", id="m1")
        await chat.save_message("c", "assistant", "an answer that stays cos=0.50")
        edited = await chat.save_message("c", "user", "after it was edited cos=0.40", id="m1")
        assert edited.created_at == NOON
        assert contents_of(await chat.messages("c")) == [
            "after it was edited cos=0.40",
            "an answer that stays cos=0.50",
        ]
        found = await chat.search_messages("anything")
        assert [(one.message.content, one.similarity) for one in found] == [
            ("an answer that stays cos=0.50", pytest.approx(0.5)),
            ("after it was edited cos=0.40", pytest.approx(0.4)),
        ]

    asyncio.run(main())


def test_an_edited_message_without_a_vector_yet_is_not_found_by_its_old_one() -> None:
    async def main() -> None:
        model = Marked()
        chat = ChatStorage(":memory:", embedder=model)
        await chat.save_message("c", "user", "before it was edited cos=0.90", id="m1")
        model.fails = True
        await chat.save_message("c", "user", "after it was edited", id="m1")
        model.fails = False
        assert await chat.search_messages("anything") == []

    asyncio.run(main())


def test_an_id_of_another_conversation_is_refused() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await chat.save_message("c1", "user", "the first one", id="m1")
        with pytest.raises(MemoryInvalidError, match="'m1' is stored in conversation 'c1'"):
            await chat.save_message("c2", "user", "the second one", id="m1")
        assert await chat.messages("c2") == []

    asyncio.run(main())


def test_messages_are_in_the_order_of_their_times_and_then_of_saving() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        for text, hour in (("second", 2), ("third", 2), ("first", 1), ("fourth", 3)):
            await chat.save_message("c", "user", text, created_at=NOON + timedelta(hours=hour))
        assert contents_of(await chat.messages("c")) == ["first", "second", "third", "fourth"]
        assert contents_of(await chat.messages("c", limit=2)) == ["third", "fourth"]

    asyncio.run(main())


def test_a_clock_that_is_set_back_leaves_the_order_of_a_conversation() -> None:
    async def main() -> None:
        times = iter([NOON, NOON - timedelta(hours=1)])
        chat = ChatStorage(":memory:", embedder=Marked(), clock=lambda: next(times))
        await fill(chat, "question", "answer")
        assert contents_of(await chat.messages("c")) == ["question", "answer"]

    asyncio.run(main())


def test_a_time_of_another_zone_is_kept_in_utc() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        there = datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2)))
        saved = await chat.save_message("c", "user", "hello", created_at=there)
        assert (saved.created_at, saved.created_at.tzinfo) == (NOON, UTC)

    asyncio.run(main())


@pytest.mark.parametrize(
    "wrong",
    [
        {"conversation_id": ""},
        {"conversation_id": None},
        {"role": " "},
        {"role": 3},
        {"content": None},
        {"content": "a\0b"},
        {"content": "hi \ud83d"},
        {"id": ""},
        {"id": "two words"},
        {"created_at": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"created_at": "2026-01-01"},
        {"metadata": {"at": NOON}},
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is_written(wrong: dict) -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        given = {"conversation_id": "c", "role": "user", "content": "hello there", **wrong}
        with pytest.raises(MemoryInvalidError):
            await chat.save_message(**given)
        assert await chat.conversations() == []

    asyncio.run(main())


def contents_of(messages) -> list[str]:
    return [message.content for message in messages]
