"""The memory service of ADK over chats: sessions of one user, found in later ones."""

import asyncio

import pytest
from google.adk.tools import load_memory, preload_memory

from embedders import HashEmbedder
from tests.extras.google_adk.agents import run, runner_of, stored_session
from tests.extras.google_adk.model import ScriptedLlm
from tests.extras.memories import Chats
from vectormem import ChatStorage, EmbeddingError, MemoryInvalidError
from vectormem.adapters.google_adk import SlotPlugin
from vectormem.adapters.google_adk_service import ChatMemoryService

KEY = "The spare key lies under the blue pot"


@pytest.fixture
def chats():
    return Chats()


@pytest.fixture
def service(chats):
    return ChatMemoryService(chats)


def search(service, query, user="ada"):
    return asyncio.run(service.search_memory(app_name="tea", user_id=user, query=query)).memories


def remembered_session(service, user="ada"):
    """Run a session in which the key is spoken of, and add it to the memory."""
    runner = runner_of(ScriptedLlm("Noted, under the pot."), memory_service=service)
    run(runner, KEY, user=user)
    session = stored_session(runner, user=user)
    asyncio.run(service.add_session_to_memory(session))
    return session


def test_a_later_session_finds_what_was_said_in_an_earlier_one(service):
    remembered_session(service)
    model = ScriptedLlm(("load_memory", {"query": "spare key"}), "Under the pot.")
    runner = runner_of(model, memory_service=service, tools=[load_memory])
    assert run(runner, "Where is the key?", session="s2") == ["Under the pot."]
    assert KEY in str(model.requests[1].results[0])


def test_it_can_be_preloaded_into_each_request(service):
    remembered_session(service)
    model = ScriptedLlm("Under the pot.")
    runner = runner_of(model, memory_service=service, tools=[preload_memory])
    run(runner, "Where is the spare key?", session="s2")
    assert any(KEY in text for _, text in model.requests[0].messages) or KEY in model.requests[0].instructions
    assert KEY not in stored_session(runner, session="s2").model_dump_json()


def test_another_user_finds_nothing(service):
    remembered_session(service)
    assert search(service, "spare key", user="bob") == []
    assert [entry.content.parts[0].text for entry in search(service, "spare key")] == [KEY]


def test_an_entry_tells_who_said_it_when_and_where(service, chats):
    session = remembered_session(service)
    entry = search(service, "spare key")[0]
    said = session.events[0]
    assert (entry.id, entry.author, entry.content.role) == (said.id, "user", "user")
    assert entry.timestamp.endswith("+00:00")
    match = asyncio.run(chats.of("ada").search_messages("spare key"))[0]
    assert entry.custom_metadata == {"session_id": "s1", "similarity": match.similarity}


def test_a_session_may_be_added_again_as_it_grows(service, chats):
    session = remembered_session(service)
    asyncio.run(service.add_session_to_memory(session))
    assert chats.turns("ada", "s1") == [("user", KEY), ("assistant", "Noted, under the pot.")]


def test_a_blank_query_finds_nothing(service):
    remembered_session(service)
    assert search(service, "  ") == []


def test_a_message_can_be_deleted_by_its_user_alone(service):
    remembered_session(service)
    found = search(service, "spare key")[0].id
    asyncio.run(service.delete_memory(app_name="tea", user_id="bob", memory_id=found))
    assert len(search(service, "spare key")) == 1
    asyncio.run(service.delete_memory(app_name="tea", user_id="ada", memory_id=found))
    assert search(service, "spare key") == []


def test_deleting_without_an_id_deletes_nothing(service):
    remembered_session(service)
    with pytest.raises(MemoryInvalidError):
        asyncio.run(service.delete_memory(app_name="tea", user_id="ada"))
    assert len(search(service, "spare key")) == 1


def test_a_storage_that_all_users_would_share_is_refused():
    with pytest.raises(MemoryInvalidError, match="share"):
        ChatMemoryService(ChatStorage(":memory:", embedder=HashEmbedder()))


def test_a_failing_search_is_told_to_the_model_where_the_plugin_is_there(chats):
    class Down:
        def __init__(self, chat):
            self.chat = chat

        async def search_messages(self, *args, **kwargs):
            raise EmbeddingError("the model is down")

    service = ChatMemoryService(lambda context: Down(chats(context)))
    model = ScriptedLlm(("load_memory", {"query": "spare key"}), "I cannot look it up.")
    runner = runner_of(model, SlotPlugin([]), memory_service=service, tools=[load_memory])
    assert run(runner, "Where is the key?") == ["I cannot look it up."]
    assert model.requests[1].results == [{"error": "the model is down"}]
