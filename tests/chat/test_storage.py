"""A chat storage as a whole: its options, scope keys, conversations and files."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from embedders import HashEmbedder
from tests.chat.models import Marked, contents
from vectormem import ChatStorage, MemoryInvalidError, SqliteStore, SqliteVectorMemory, StorageFailedError, blocking

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "wrong",
    [
        {"embedder": None},
        {"embedder": HashEmbedder},
        {"scope_key": ""},
        {"scope_key": None},
        {"min_content_length": -1},
        {"min_content_length": True},
        {"ranking": "best"},
    ],
)
def test_wrong_options_are_refused(wrong: dict) -> None:
    with pytest.raises(MemoryInvalidError):
        ChatStorage(":memory:", **{"embedder": HashEmbedder(), **wrong})


def test_a_wrong_store_is_refused() -> None:
    with pytest.raises(MemoryInvalidError):
        ChatStorage(None, embedder=HashEmbedder())


def test_conversations_are_summed_up_the_latest_first() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        for conversation, hour in (("a", 1), ("b", 2), ("a", 5), ("b", 3)):
            await chat.save_message(conversation, "user", "hello", created_at=NOON + timedelta(hours=hour))
        found = [(one.id, one.messages, one.first_at, one.last_at) for one in await chat.conversations()]
        at = [NOON + timedelta(hours=hour) for hour in range(6)]
        assert found == [("a", 2, at[1], at[5]), ("b", 2, at[2], at[3])]

    asyncio.run(main())


def test_no_verb_crosses_scope_keys() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            ada = ChatStorage(store, embedder=HashEmbedder(), scope_key="ada")
            bob = ChatStorage(store, embedder=HashEmbedder(), scope_key="bob")
            await ada.save_message("c", "user", "Ada likes green tea", id="m1")
            await bob.save_message("c", "user", "Bob likes black tea", id="m1")
            assert contents_of(await ada.messages("c")) == ["Ada likes green tea"]
            assert contents(await ada.search_messages("black tea", min_similarity=0)) == ["Ada likes green tea"]
            assert [one.messages for one in await bob.conversations()] == [1]
            assert await bob.delete_message("m1") is True
            assert await bob.delete_conversation("c") == 0
            assert contents_of(await ada.messages("c")) == ["Ada likes green tea"]

    asyncio.run(main())


def test_chats_and_items_of_one_name_are_apart() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            items = SqliteVectorMemory(store, embedder=HashEmbedder())
            chat = ChatStorage(store, embedder=HashEmbedder())
            await items.add("global", "an item about tea")
            await chat.save_message("c", "user", "a message about tea")
            assert [item.text for item in await items.list("global", query="tea")] == ["an item about tea"]
            assert contents(await chat.search_messages("tea")) == ["a message about tea"]
            assert await items.count("global") == 1

    asyncio.run(main())


def test_messages_last_beyond_the_process(tmp_path) -> None:
    with blocking(ChatStorage(tmp_path / "chat.db", embedder=HashEmbedder())) as chat:
        chat.save_message("c", "user", "the spare key is under the pot", id="m1")
    with blocking(ChatStorage(tmp_path / "chat.db", embedder=HashEmbedder())) as chat:
        assert [match.message.id for match in chat.search_messages("spare key")] == ["m1"]
        tool = chat.create_memory_retrieval_tool(limit=1)
        assert tool.call({"query": "spare key"})["messages"][0]["text"] == "the spare key is under the pot"


def test_a_closed_store_says_so() -> None:
    async def main() -> None:
        store = SqliteStore(":memory:")
        chat = ChatStorage(store, embedder=HashEmbedder())
        store.close()
        with pytest.raises(StorageFailedError, match="closed"):
            await chat.save_message("c", "user", "hello")

    asyncio.run(main())


def contents_of(messages) -> list[str]:
    return [message.content for message in messages]
