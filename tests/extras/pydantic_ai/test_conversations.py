"""Stored conversations: the same answers as the framework's own store gives, in one file, each scope key alone."""

import asyncio
import contextlib
import subprocess
import sys
from datetime import UTC, datetime

import apsw
import pytest
from pydantic_ai import Agent, BinaryImage
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from tests.extras.pydantic_ai.script import Script
from vectormem import ChatStorage, MemoryInvalidError, SqliteMemory, SqliteStore, StorageFailedError
from vectormem.adapters.pydantic_ai import SqliteConversations
from vectormem.testing import HashEmbedder

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture(params=["framework", "file", "memory"])
def any_store(request, tmp_path):
    """The framework's own store, which tells what is right, and ours."""
    if request.param == "framework":
        return InMemoryConversationStore()
    return SqliteConversations(tmp_path / "agent.db" if request.param == "file" else ":memory:")


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "agent.db") as opened:
        yield opened


def asked(text):
    return ModelRequest([UserPromptPart(text, timestamp=NOON)], timestamp=NOON)


def answered(text):
    return ModelResponse([TextPart(text)], timestamp=NOON)


def conversation(*texts, id="c"):
    turns = [asked(text) if position % 2 == 0 else answered(text) for position, text in enumerate(texts)]
    return Conversation(messages=turns, conversation_id=id)


def texts_of(found):
    return None if found is None else [message.parts[0].content for message in found.messages]


def count(store, table):
    return store.read(lambda connection: connection.execute(f"SELECT count(*) FROM {table}").get)


def test_a_conversation_is_loaded_as_it_was_saved(any_store):
    messages = [
        ModelRequest([UserPromptPart(["look", BinaryImage(b"\xff\x00", media_type="image/png")], timestamp=NOON)]),
        ModelResponse([TextPart("naïve 藍"), ToolCallPart("look", {"a": [1, None]}, "id-1")], timestamp=NOON),
        ModelRequest([ToolReturnPart("look", {"found": True}, "id-1", timestamp=NOON)]),
    ]
    saved = Conversation(messages=messages, conversation_id="c")
    saved.usage.requests, saved.usage.input_tokens = 3, 70

    async def scenario():
        entries = await any_store.save(saved, scope="ada")
        loaded = await any_store.load("c")
        return entries, loaded, await any_store.load_entries("c"), await any_store.read_entry(entries[1].id)

    entries, loaded, loaded_entries, entry = asyncio.run(scenario())
    assert loaded == saved
    assert loaded.revision == saved.revision is not None
    assert [one.message for one in entries] == messages
    assert loaded_entries == entries
    assert entry == entries[1]
    assert [one.parent_id for one in entries] == [None, entries[0].id, entries[1].id]


def test_what_is_not_there_is_none(any_store):
    async def scenario():
        return [
            await any_store.load("c"),
            await any_store.load_entries("c"),
            await any_store.list_conversations(),
            await any_store.delete("c"),
            await any_store.read_history(None),
        ]

    assert asyncio.run(scenario()) == [None, None, [], None, []]


def test_a_missing_entry_is_a_lookup_error(any_store):
    for read in (any_store.read_entry, any_store.read_history):
        with pytest.raises(LookupError):
            asyncio.run(read("unknown"))


def test_a_save_appends_what_is_new(any_store):
    async def scenario():
        await any_store.save(conversation("one", "two"))
        loaded = await any_store.load("c")
        loaded.messages += [asked("three"), answered("four")]
        new = await any_store.save(loaded)
        return texts_of(await any_store.load("c")), len(new), texts_of(await any_store.load("c", limit=3))

    assert asyncio.run(scenario()) == (["one", "two", "three", "four"], 2, ["two", "three", "four"])


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_a_window_holds_the_last_messages(any_store, limit):
    async def scenario():
        await any_store.save(conversation("a", "b", "c"))
        return texts_of(await any_store.load("c", limit=limit))

    assert asyncio.run(scenario()) == ["a", "b", "c"][3 - min(limit, 3) :]


def test_a_copy_that_another_save_made_old_conflicts_and_leaves_nothing(any_store):
    async def scenario():
        await any_store.save(conversation("one"))
        mine, other = await any_store.load("c"), await any_store.load("c")
        mine.messages.append(answered("mine"))
        other.messages.append(answered("theirs"))
        await any_store.save(mine)
        for late in (other, conversation("new")):
            with pytest.raises(ConversationConflict):
                await any_store.save(late)
        return texts_of(await any_store.load("c"))

    assert asyncio.run(scenario()) == ["one", "mine"]


def test_a_head_that_is_nowhere_conflicts(any_store):
    record = ConversationRecord(conversation_id="c", head_id="unknown")
    with pytest.raises(ConversationConflict):
        asyncio.run(any_store.write_record(record, expected_revision=None))
    assert asyncio.run(any_store.read_record("c")) is None


def test_a_scope_sees_its_own_conversations(any_store):
    async def scenario():
        await any_store.save(conversation("one"), scope="ada")
        with pytest.raises(ConversationConflict):
            await any_store.save(conversation("two"), scope="eve")
        await any_store.delete("c", scope="eve")
        return [
            texts_of(await any_store.load("c", scope="ada")),
            await any_store.load("c", scope="eve"),
            [one.conversation_id for one in await any_store.list_conversations(scope="ada")],
            await any_store.list_conversations(scope="eve"),
        ]

    assert asyncio.run(scenario()) == [["one"], None, ["c"], []]


def test_conversations_are_listed_the_latest_first(any_store):
    async def scenario():
        for name in ("a", "b", "c"):
            await any_store.save(conversation("one", id=name))
        again = await any_store.load("a")
        again.messages.append(answered("two"))
        await any_store.save(again)
        every = await any_store.list_conversations()
        return [one.conversation_id for one in every], [
            one.conversation_id for one in await any_store.list_conversations(limit=2)
        ]

    assert asyncio.run(scenario()) == (["a", "c", "b"], ["a", "c"])


def test_branches_and_forks_share_their_entries(any_store):
    async def scenario():
        first = await any_store.save(conversation("one", "two", "three", "four"))
        loaded = await any_store.load("c")
        branched = await any_store.branch("c", at=2, expected_revision=loaded.revision)
        branched.messages += [asked("other")]
        await any_store.save(branched)
        record = await any_store.read_record("c")
        forked = await any_store.fork("c", from_entry=first[3].id, new_conversation_id="f")
        return texts_of(await any_store.load("c")), record.branches == [first[3].id], texts_of(forked)

    assert asyncio.run(scenario()) == (["one", "two", "other"], True, ["one", "two", "three", "four"])


def test_a_conversation_can_go_back_to_a_branch_it_left(any_store):
    async def scenario():
        entries = await any_store.save(conversation("one", "two", "three"))
        revision = (await any_store.load("c")).revision
        branched = await any_store.branch("c", at=1, expected_revision=revision)
        branched.messages += [answered("other")]
        await any_store.save(branched)
        back = await any_store.branch("c", from_entry=entries[2].id, expected_revision=branched.revision)
        return texts_of(back), len((await any_store.read_record("c")).branches)

    assert asyncio.run(scenario()) == (["one", "two", "three"], 1)


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
        kept = texts_of(await conversations.load("f")), count(store, "agent_entries")
        await conversations.delete("f")
        return kept

    assert asyncio.run(scenario()) == (["one", "two"], 2)
    assert [count(store, f"agent_{table}") for table in ("entries", "conversations", "branches")] == [0, 0, 0]


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


def test_deleting_during_a_save_conflicts(any_store):
    async def scenario():
        await any_store.save(conversation("one"))
        loaded = await any_store.load("c")
        await any_store.delete("c")
        await any_store.save(conversation("anew"))
        loaded.messages.append(answered("two"))
        with pytest.raises(ConversationConflict):
            await any_store.save(loaded)
        with pytest.raises(ConversationConflict):
            await any_store.delete_record("c", expected_revision=loaded.revision)
        return texts_of(await any_store.load("c"))

    assert asyncio.run(scenario()) == ["anew"]


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
        store._with_writer(lambda connection: connection.execute("SELECT * FROM agent_entries").get)
    asyncio.run(conversations.save(conversation("one")))
    assert count(store, "agent_entries") == 1
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
    assert count(store, "agent_entries") == 0


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
from vectormem.adapters.pydantic_ai import SqliteConversations

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
