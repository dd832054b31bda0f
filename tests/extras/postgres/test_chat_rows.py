"""Chats in Postgres: what is left in the tables, and what other programs see."""

import asyncio
import random
import subprocess
import sys

import pytest

from embedders import HashEmbedder
from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, MemoryInvalidError, SqliteStore

TABLES = ("chat_messages", "chat_vectors", "chat_words", "chat_conversations")


def rows(store, table, condition="true"):
    query = f"SELECT count(*) FROM {table} WHERE {condition}"
    return store.read(lambda connection: connection.execute(query).fetchone()[0])


def test_a_deleted_conversation_leaves_no_row_behind(store):
    async def main():
        chat = ChatStorage(store, embedder=HashEmbedder(), ranking="hybrid")
        await fill(chat, "a secret plan " * 60, "another secret", conversation="a")
        assert all(rows(store, table) for table in TABLES)
        assert await chat.delete_conversation("a") == 2
        assert [rows(store, table) for table in TABLES] == [0] * 4
        assert await chat.search_messages("secret plan", min_similarity=0) == []

    asyncio.run(main())


@pytest.mark.parametrize("edits", [False, True])
def test_the_answer_to_a_message_that_is_gone_forgets_what_it_answered(store, edits):
    async def main():
        chat = ChatStorage(store, embedder=Marked(), ranking="hybrid", auto_embed_messages=False)
        await chat.save_message("c", "user", "a question that held a secret", id="m1")
        await chat.save_message("c", "assistant", "an answer of some length", id="m2")
        await chat.embed_pending()
        assert rows(store, "chat_vectors", "part=-1") == 2
        if edits:
            await chat.save_message("c", "user", "a question without it", id="m1")
        else:
            await chat.delete_message("m1")
        assert rows(store, "chat_vectors", "part=-1") == 0
        assert await chat.embed_pending() == 1 + edits

    asyncio.run(main())


def test_another_process_is_seen_at_once(dsn, store):
    program = (
        "import sys; from embedders import HashEmbedder; from vectormem import ChatStorage, PostgresStore, blocking\n"
        "with PostgresStore(sys.argv[1], schema=sys.argv[2]) as store:\n"
        "    chat = blocking(ChatStorage(store, embedder=HashEmbedder()))\n"
        "    chat.delete_message('m1'); chat.save_message('c', 'user', 'the key lies under the mat', id='m2')\n"
    )

    async def main():
        chat = ChatStorage(store, embedder=HashEmbedder())
        await chat.save_message("c", "user", "the key lies under the pot", id="m1")
        assert contents(await chat.search_messages("key")) == ["the key lies under the pot"]
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", program, dsn, store.schema], check=True)
        assert contents(await chat.search_messages("key")) == ["the key lies under the mat"]

    asyncio.run(main())


def test_a_dsn_in_place_of_the_store_is_opened_and_closed(dsn, store):
    async def main():
        async with ChatStorage(dsn, embedder=HashEmbedder()) as chat:
            await chat.conversations()
        with pytest.raises(Exception, match="closed"):
            await chat.conversations()

    asyncio.run(main())


@pytest.mark.parametrize("ranking", ["vector", "keyword", "hybrid"])
def test_the_same_messages_and_questions_have_the_same_answers_as_on_sqlite(store, ranking):
    words = ["tea", "milk", "oslo", "paris", "train", "plane", "red", "green", "blue", "cat", "dog", "salt", "sugar"]
    chance = random.Random(7)
    messages = [
        (f"c{chance.randrange(5)}", chance.choice(["user", "assistant"]), " ".join(chance.choices(words, k=9)) + mark)
        for mark in ("?", "", ".", "") * 15
    ]

    async def main():
        with SqliteStore(":memory:") as sqlite:
            chats = [ChatStorage(one, embedder=HashEmbedder(64), ranking=ranking) for one in (store, sqlite)]
            for number, (conversation, role, content) in enumerate(messages):
                for chat in chats:
                    await chat.save_message(conversation, role, content, id=f"m{number}")
            for number in range(0, 60, 9):
                for chat in chats:
                    await chat.delete_message(f"m{number}")
            for query in ("red cat in oslo", "sugar?", "blue train milk"):
                found = [await chat.search_messages(query, limit=9, min_similarity=0.1, context=1) for chat in chats]
                here, there = (
                    [(one.message.id, one.similarity, one.text, [m.id for m in one.context]) for one in matches]
                    for matches in found
                )
                assert here == there
                assert here

    asyncio.run(main())


def test_an_id_of_another_conversation_is_refused_and_nothing_changes(store):
    async def main():
        chat = ChatStorage(store, embedder=HashEmbedder())
        await chat.save_message("a", "user", "likes green tea", id="m1")
        with pytest.raises(MemoryInvalidError):
            await chat.save_message("b", "user", "likes black tea", id="m1")
        assert [one.content for one in await chat.messages("a")] == ["likes green tea"]
        assert await chat.messages("b") == []

    asyncio.run(main())
