"""Stored conversations in their file: each scope key alone, deleted for good, shared by processes."""

import asyncio
import contextlib
import subprocess
import sys

import apsw
import pytest
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, ConversationEntry, ConversationRecord
from pydantic_ai.exceptions import UserError

from tests.extras.pydantic_ai.script import Script
from tests.extras.pydantic_ai.test_conversations import answered, asked, conversation, texts_of
from vectormem import ChatStorage, MemoryInvalidError, SqliteMemory, SqliteStore, StorageFailedError
from vectormem.adapters.pydantic_ai_conversations import SqliteConversations
from vectormem.testing import HashEmbedder


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "agent.db") as opened:
        yield opened


def count(store, table):
    return store.read(lambda connection: connection.execute(f"SELECT count(*) FROM {table}").get)


def test_a_message_that_is_no_text_of_unicode_is_refused_and_nothing_is_stored(store):
    conversations = SqliteConversations(store)
    with pytest.raises(MemoryInvalidError, match="cannot be written as JSON"):
        asyncio.run(conversations.save(conversation("half a pair: \ud83d")))
    assert asyncio.run(conversations.load("c")) is None


def test_a_deleted_conversation_leaves_what_its_forks_use_and_nothing_else(store):
    conversations = SqliteConversations(store)

    async def scenario():
        await conversations.save(conversation("one", "two", "three", "four"))
        loaded = await conversations.load("c")
        branched = await conversations.branch("c", at=3, expected_revision=loaded.revision)
        branched.messages += [answered("other")]
        await conversations.save(branched)
        await conversations.fork("c", at=2, new_conversation_id="f")
        await conversations.delete("c")
        kept = texts_of(await conversations.load("f")), count(store, "pydantic_ai_entries")
        await conversations.delete("f")
        return kept

    assert asyncio.run(scenario()) == (["one", "two"], 2)
    assert [count(store, f"pydantic_ai_{table}") for table in ("entries", "conversations", "branches")] == [0, 0, 0]


def test_a_deleted_conversation_leaves_no_trace_in_the_file(tmp_path):
    secret = "the vault opens with 4711"

    async def scenario():
        async with SqliteConversations(tmp_path / "agent.db") as conversations:
            await conversations.save(conversation(secret, "noted"))
            await conversations.keep_pause("c", "run-1", {"blocks": {"notes": secret}})
            await conversations.delete("c")
            return await conversations.find_pause("run-1")

    assert asyncio.run(scenario()) is None
    assert [path.name for path in tmp_path.iterdir() if secret.encode() in path.read_bytes()] == []


def test_one_scope_key_never_sees_the_conversations_of_another(store):
    ada, eve = SqliteConversations(store, scope_key="user:ada"), SqliteConversations(store, scope_key="user:eve")

    async def scenario():
        (entry,) = await ada.save(conversation("secret"))
        await ada.keep_pause("c", "run-1", {"blocks": {}})
        assert await eve.load("c") is None
        assert await eve.list_conversations() == []
        assert await eve.find_pause("run-1") is None
        for read in (eve.read_entry, eve.read_history):
            with pytest.raises(LookupError):
                await read(entry.id)
        with pytest.raises(UserError):
            await eve.fork("c")
        with pytest.raises(ConversationConflict):
            await eve.write_record(ConversationRecord(conversation_id="x", head_id=entry.id), expected_revision=None)
        await eve.delete("c")
        await eve.save(conversation("mine"))
        await eve.delete("c")
        return texts_of(await ada.load("c"))

    assert asyncio.run(scenario()) == ["secret"]


def test_ids_that_cannot_be_stored_are_refused_for_pauses_too(store):
    conversations = SqliteConversations(store)
    for pause in (conversations.keep_pause("\ud83d", "run-1", {}), conversations.find_pause("\ud83d")):
        with pytest.raises(MemoryInvalidError):
            asyncio.run(pause)


def test_sessions_chats_and_memory_live_in_one_file(store):
    agent = Agent(Script("one", "two"))

    async def scenario():
        conversations = SqliteConversations(store)
        await SqliteMemory(store).add("notes#global", "likes tea")
        await ChatStorage(store, embedder=HashEmbedder()).save_message("c", "user", "hello there, agent")
        for _ in range(2):
            stored = await conversations.load("c") or Conversation(conversation_id="c")
            await conversations.save(await agent.run("hi", conversation=stored))
        return texts_of(await conversations.load("c")), (await conversations.load("c")).usage.requests

    assert asyncio.run(scenario()) == (["hi", "one", "hi", "two"], 2)


def test_a_file_gains_the_tables_by_the_first_save_and_keeps_its_schema_version(store):
    version = store.read(lambda connection: connection.pragma("user_version"))
    conversations = SqliteConversations(store)
    assert asyncio.run(conversations.load("c")) is None
    with pytest.raises(apsw.SQLError, match="no such table"):
        store._with_writer(lambda connection: connection.execute("SELECT * FROM pydantic_ai_entries").get)
    asyncio.run(conversations.save(conversation("one")))
    assert count(store, "pydantic_ai_entries") == 1
    assert store.read(lambda connection: connection.pragma("user_version")) == version


def test_a_long_conversation_is_saved_and_loaded_in_a_few_statements(store):
    texts = [f"message {number}" for number in range(3000)]

    async def scenario():
        conversations = SqliteConversations(store)
        await conversations.save(conversation(*texts))
        loaded = await conversations.load("c")
        await conversations.delete("c")
        return texts_of(loaded)

    assert asyncio.run(scenario()) == texts
    assert count(store, "pydantic_ai_entries") == 0


@pytest.mark.parametrize("wrong", ["", None, 5, "a\0b", "\ud83d"])
def test_a_conversation_id_that_cannot_be_stored_is_refused(store, wrong):
    conversations = SqliteConversations(store)
    with pytest.raises(MemoryInvalidError):
        asyncio.run(conversations.load(wrong))
    with pytest.raises(MemoryInvalidError):
        asyncio.run(conversations.save(conversation("one", id=wrong)))


@pytest.mark.parametrize("wrong", ["", None, 5, "a\0b"])
def test_a_scope_key_that_cannot_be_stored_is_refused(store, wrong):
    with pytest.raises(MemoryInvalidError):
        SqliteConversations(store, scope_key=wrong)


def test_a_store_that_is_closed_says_so(store):
    conversations = SqliteConversations(store)
    store.close()
    with pytest.raises(StorageFailedError, match="is closed"):
        asyncio.run(conversations.load("c"))


def test_entries_written_once_are_refused_a_second_time(store):
    conversations = SqliteConversations(store)
    entry = ConversationEntry(id="e", parent_id=None, message=asked("one"))
    record = ConversationRecord(conversation_id="c", head_id="e")
    asyncio.run(conversations.write_record(record, new_entries=[entry], expected_revision=None))
    again = ConversationRecord(conversation_id="c", head_id="e")
    with pytest.raises(StorageFailedError):
        asyncio.run(conversations.write_record(again, new_entries=[entry], expected_revision=record.revision))
    assert asyncio.run(conversations.read_record("c")) == record


WRITER = """
import asyncio, sys
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict
from pydantic_ai.messages import ModelRequest, UserPromptPart
from vectormem.adapters.pydantic_ai_conversations import SqliteConversations

async def main():
    async with SqliteConversations(sys.argv[1]) as conversations:
        for number in range(10):
            while True:
                loaded = await conversations.load("c") or Conversation(conversation_id="c")
                loaded.messages.append(ModelRequest([UserPromptPart(f"{sys.argv[2]}-{number}")]))
                try:
                    await conversations.save(loaded)
                    break
                except ConversationConflict:
                    continue

asyncio.run(main())
"""


def test_several_processes_lose_no_turn_of_a_conversation(tmp_path):
    path = str(tmp_path / "agent.db")
    running = [subprocess.Popen([sys.executable, "-c", WRITER, path, name]) for name in ("a", "b")]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    with contextlib.closing(apsw.Connection(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
    found = texts_of(asyncio.run(SqliteConversations(path).load("c")))
    assert sorted(found) == sorted(f"{name}-{number}" for name in "ab" for number in range(10))
    assert [text for text in found if text[0] == "a"] == [f"a-{number}" for number in range(10)]
