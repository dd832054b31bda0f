"""Stored conversations: the same answers as the framework's own store gives."""

import asyncio
from datetime import UTC, datetime

import pytest
from pydantic_ai import BinaryImage
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationRecord,
    InMemoryConversationStore,
)
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from vectormem.adapters.pydantic_ai_conversations import SqliteConversations

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture(params=["framework", "file", "memory"])
def any_store(request, tmp_path):
    """The framework's own store, which tells what is right, and ours."""
    if request.param == "framework":
        return InMemoryConversationStore()
    return SqliteConversations(tmp_path / "agent.db" if request.param == "file" else ":memory:")


def asked(text):
    return ModelRequest([UserPromptPart(text, timestamp=NOON)], timestamp=NOON)


def answered(text):
    return ModelResponse([TextPart(text)], timestamp=NOON)


def conversation(*texts, id="c"):
    turns = [asked(text) if position % 2 == 0 else answered(text) for position, text in enumerate(texts)]
    return Conversation(messages=turns, conversation_id=id)


def texts_of(found):
    return None if found is None else [message.parts[0].content for message in found.messages]


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
