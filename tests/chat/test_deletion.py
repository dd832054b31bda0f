"""What is deleted is gone: text, words, passages, vectors, and what neighbours knew of it."""

import asyncio

import apsw
import pytest

from embedders import HashEmbedder
from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, MemoryInvalidError, SqliteStore

TABLES = ("chat_messages", "chat_vectors", "chat_words", "chat_conversations")


def rows(store: SqliteStore, table: str) -> int:
    return store.read(lambda connection: connection.execute(f"SELECT count(*) FROM {table}").get)


def test_a_deleted_conversation_leaves_no_row_behind() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            chat = ChatStorage(store, embedder=HashEmbedder(), ranking="hybrid")
            await fill(chat, "a secret plan " * 60, "another secret", conversation="a")
            assert all(rows(store, table) for table in TABLES)
            assert await chat.delete_conversation("a") == 2
            assert [rows(store, table) for table in TABLES] == [0] * 4
            assert await chat.search_messages("secret plan", min_similarity=0) == []
            assert (await chat.messages("a"), await chat.conversations()) == ([], [])
            assert await chat.delete_conversation("a") == 0

    asyncio.run(main())


def test_the_other_conversations_stay() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, "said in a cos=0.90", conversation="a")
        await fill(chat, "said in b cos=0.80", conversation="b")
        assert len(await chat.search_messages("anything")) == 2
        await chat.delete_conversation("a")
        assert contents(await chat.search_messages("anything")) == ["said in b cos=0.80"]
        await fill(chat, "said in a again cos=0.85", conversation="a")
        assert contents(await chat.search_messages("anything")) == ["said in a again cos=0.85", "said in b cos=0.80"]

    asyncio.run(main())


def test_a_deleted_message_is_gone_and_an_unknown_one_is_told() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        first, second = await fill(chat, "said first cos=0.90", "said second cos=0.80")
        assert await chat.delete_message(first) is True
        assert await chat.delete_message(first) is False
        assert [one.id for one in await chat.messages("c")] == [second]
        assert contents(await chat.search_messages("anything")) == ["said second cos=0.80"]
        with pytest.raises(MemoryInvalidError):
            await chat.delete_message("")

    asyncio.run(main())


@pytest.mark.parametrize("edits", [False, True])
def test_the_answer_to_a_message_that_is_gone_forgets_what_it_answered(edits: bool) -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            model = Marked()
            chat = ChatStorage(store, embedder=model, ranking="hybrid", auto_embed_messages=False)
            await chat.save_message("c", "user", "a question that held a secret", id="m1")
            await chat.save_message("c", "assistant", "an answer of some length", id="m2")
            await chat.embed_pending()
            assert model.documents.count("a question that held a secret\nan answer of some length") == 1
            if edits:
                await chat.save_message("c", "user", "a question without it", id="m1")
            else:
                await chat.delete_message("m1")
            kept = store.read(lambda db: db.execute("SELECT count(*) FROM chat_vectors WHERE part=-1").get)
            assert kept == 0
            assert await chat.embed_pending() == 1 + edits

    asyncio.run(main())


def test_deleted_text_is_overwritten_in_the_file(tmp_path) -> None:
    async def main() -> None:
        path = tmp_path / "chat.db"
        with SqliteStore(path) as store:
            chat = ChatStorage(store, embedder=HashEmbedder())
            await fill(chat, "the passphrase is xylophonequartz", conversation="a")
            await fill(chat, "nothing of interest", conversation="b")
            assert await chat.delete_conversation("a") == 1
        with apsw.Connection(str(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert b"xyloph" not in path.read_bytes()

    asyncio.run(main())
