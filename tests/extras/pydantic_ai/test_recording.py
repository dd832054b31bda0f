"""The turns of runs in chat memory, and its tool."""

import asyncio
import logging

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ImageUrl
from pydantic_ai.toolsets import FunctionToolset

from tests.extras.pydantic_ai.conftest import slot_of
from tests.extras.pydantic_ai.script import Script, call
from tests.extras.pydantic_ai.test_recall import WAYS, drive
from vectormem import ChatStorage, blocking
from vectormem.adapters.pydantic_ai import AgentMemory
from vectormem.testing import HashEmbedder


@pytest.fixture
def chat():
    return ChatStorage(":memory:", embedder=HashEmbedder())


def said(chat, conversation_id="s1"):
    return [(one.role, one.content) for one in blocking(chat).messages(conversation_id)]


def run(script, memory, prompt="hi", *, way="run", conversation_id="s1", **options):
    agent = Agent(script, capabilities=[memory], **options)
    return asyncio.run(drive(agent, way, prompt, conversation_id=conversation_id))


@pytest.mark.parametrize("way", WAYS)
def test_the_prompt_and_the_answer_of_a_run_are_recorded(chat, provider, way):
    script = Script(call("remember_notes", text="x"), "Noted.")
    run(script, AgentMemory([slot_of(provider)], chat=chat), "I like tea", way=way)
    assert said(chat) == [("user", "I like tea"), ("assistant", "Noted.")]


def test_the_texts_of_a_prompt_are_recorded_without_its_pictures(chat):
    prompt = ["Look at", ImageUrl("https://example.com/a.png"), "this"]
    run(Script("Nice."), AgentMemory([], chat=chat), prompt)
    assert said(chat) == [("user", "Look at\nthis"), ("assistant", "Nice.")]


def test_an_output_that_is_no_text_is_recorded_as_json(chat):
    class City(BaseModel):
        name: str

    run(Script(call("final_result", name="Oslo")), AgentMemory([], chat=chat), output_type=City)
    assert said(chat) == [("user", "hi"), ("assistant", '{"name":"Oslo"}')]


def test_a_run_that_pauses_is_recorded_in_two_parts(chat):
    toolset = FunctionToolset()
    toolset.add_function(lambda: "done", name="delete", requires_approval=True)
    agent = Agent(
        Script(call("delete"), "Done."),
        toolsets=[toolset],
        output_type=[str, DeferredToolRequests],
        capabilities=[AgentMemory([], chat=chat)],
    )

    async def converse():
        paused = await agent.run("clean up", conversation_id="s1")
        results = paused.output.build_results(approve_all=True)
        await agent.run(conversation=paused.conversation, deferred_tool_results=results)

    asyncio.run(converse())
    assert said(chat) == [("user", "clean up"), ("assistant", "Done.")]


def test_a_run_that_fails_is_not_recorded(chat):
    with pytest.raises(IndexError):
        run(Script(), AgentMemory([], chat=chat))
    assert said(chat) == []


def test_the_chat_may_be_that_of_the_principal():
    chats = {user: ChatStorage(":memory:", embedder=HashEmbedder(), scope_key=user) for user in ("ada", "bob")}
    memory = AgentMemory([], chat=lambda context: chats.get(context.principal))
    agent = Agent(Script("one", "two", "three"), deps_type=str, capabilities=[memory])
    for user in ("ada", "bob", "nobody"):
        asyncio.run(agent.run(f"I am {user}", deps=user, conversation_id="s1"))
    assert said(chats["ada"]) == [("user", "I am ada"), ("assistant", "one")]
    assert said(chats["bob"]) == [("user", "I am bob"), ("assistant", "two")]


def test_a_chat_that_fails_costs_a_warning(chat, caplog):
    chat = ChatStorage(":memory:", embedder=HashEmbedder())
    chat._store._store.close()
    with caplog.at_level(logging.WARNING, "vectormem"):
        assert run(Script("ok"), AgentMemory([], chat=chat)).output == "ok"
    assert [record.getMessage()[:12] for record in caplog.records] == ["chat memory:"]


def test_the_model_finds_what_was_said_in_other_conversations_alone(chat):
    def tools(context):
        return [chat.create_memory_retrieval_tool(exclude_conversation_id=context.session_id)]

    memory = AgentMemory([], chat=chat, tools=tools)
    run(Script("Noted."), memory, "The spare key is under the blue pot", conversation_id="monday")
    script = Script(call("search_memory", query="Where is the spare key?"), "Under the blue pot.")
    run(script, memory, "Where is the spare key?", conversation_id="friday")
    ((name, outcome, content),) = script.requests[1].tool_returns
    assert (name, outcome) == ("search_memory", "success")
    assert [(one["conversationId"], one["text"]) for one in content["messages"]] == [
        ("monday", "The spare key is under the blue pot")
    ]
