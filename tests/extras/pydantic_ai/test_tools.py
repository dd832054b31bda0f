"""The memory tools of a run: what they do, and what the model is told where they fail."""

import asyncio
import json

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.capabilities import IncludeToolReturnSchemas
from pydantic_ai.models.test import TestModel

from tests.extras.pydantic_ai.conftest import block, holding, slot_of, stored
from tests.extras.pydantic_ai.script import Script, call
from vectormem import EmbeddingError, InMemoryVectorMemory, MemoryRun, MemoryTool, blocking
from vectormem.adapters.pydantic_ai import AgentMemory
from vectormem.adapters.pydantic_ai_tools import pydantic_ai_tool


def run(script, *slots, **options):
    return asyncio.run(Agent(script, capabilities=[AgentMemory(slots, **options)]).run("hi"))


def test_a_remembered_item_is_stored_and_named(provider):
    script = Script(call("remember_notes", text="Lives in Oslo."), "ok")
    run(script, slot_of(provider))
    (item,) = blocking(provider).list("notes#global")
    assert item.text == "Lives in Oslo."
    assert script.requests[1].tool_returns == [("remember_notes", "success", {"remembered": item.id})]


def test_the_recall_and_forget_tools_answer_as_they_do_without_a_framework(provider):
    slot = holding(provider, "likes tea", expose={"forget": True})
    (item,) = blocking(provider).list("notes#global")
    script = Script([("recall_notes", {"query": "tea"}), ("forget_notes", {"id": "unknown"})], "ok")
    run(script, slot)
    found = {"id": item.id, "text": "likes tea", "createdAt": item.model_dump(mode="json")["created_at"]}
    assert script.requests[1].tool_returns == [
        ("recall_notes", "success", {"items": [found]}),
        ("forget_notes", "success", {"forgotten": None, "reason": "No item with this id."}),
    ]
    assert script.requests[0].instructions == block(f"likes tea (id: {item.id})")


def test_the_model_sees_the_schema_the_description_and_the_annotations(provider):
    class Mood(BaseModel):
        mood: str

    script = Script("ok")
    run(script, slot_of(provider, description="How the user feels.", item_schema=Mood, expose={"forget": True}))
    remember, recall, forget = script.requests[0].definitions
    assert remember.parameters_json_schema["properties"]["mood"]["type"] == "string"
    assert remember.description.endswith("How the user feels.")
    assert recall.metadata == {"annotations": {"readOnlyHint": True, "destructiveHint": False}}
    assert forget.metadata == {"annotations": {"readOnlyHint": False, "destructiveHint": True}}


@pytest.mark.parametrize(
    "arguments",
    [{}, {"text": 5}, {"text": "x", "more": 1}, {"text": " "}, "not json", "[1]", '{"text": NaN}', {"text": "\ud83d"}],
)
def test_wrong_arguments_are_told_to_the_model_as_often_as_it_takes(provider, arguments):
    if isinstance(arguments, dict) and arguments.get("text") == "\ud83d":
        arguments = {"text": "nul \0"}
    script = Script(*[[("remember_notes", arguments)]] * 6, call("remember_notes", text="right"), "ok")
    assert run(script, slot_of(provider)).output == "ok"
    assert stored(provider) == ["right"]
    assert [outcome for _, outcome, _ in script.requests[-1].tool_returns[:6]] in (["failed"] * 6, ["retried"] * 6)


def test_an_embedder_that_fails_is_told_to_the_model(provider):
    class Broken:
        id = "broken"

        async def embed(self, texts, *, kind="document"):
            raise EmbeddingError("the server is down")

    script = Script(call("remember_notes", text="x"), "ok")
    assert run(script, slot_of(InMemoryVectorMemory(embedder=Broken()))).output == "ok"
    (name, outcome, content) = script.requests[1].tool_returns[0]
    assert (name, outcome) == ("remember_notes", "failed")
    assert "the server is down" in content


def test_further_tools_are_those_of_the_runs_context(provider):
    async def whose(arguments):
        return {"session": arguments["session"]}

    def tools(context):
        schema = {"type": "object", "properties": {"session": {"const": context.session_id}}}
        return [MemoryTool(name="whose", description="", input_schema=schema, annotations={}, handler=whose)]

    script = Script(call("whose", session="s1"), "ok")
    agent = Agent(script, capabilities=[AgentMemory([slot_of(provider)], tools=tools)])
    asyncio.run(agent.run("hi", conversation_id="s1"))
    assert script.requests[0].tools == ["remember_notes", "recall_notes", "whose"]
    assert script.requests[1].tool_returns == [("whose", "success", {"session": "s1"})]


def test_a_tool_of_the_agent_with_the_name_of_a_memory_tool_is_an_error(provider):
    agent = Agent(Script("ok"), capabilities=[AgentMemory([slot_of(provider)])])

    @agent.tool_plain
    def recall_notes() -> str:
        return "mine"

    with pytest.raises(Exception, match="conflicts with existing tool"):
        asyncio.run(agent.run("hi"))


def test_the_test_model_of_the_framework_can_call_every_tool(provider):
    agent = Agent(TestModel(), capabilities=[AgentMemory([slot_of(provider, expose={"forget": True})])])
    output = json.loads(asyncio.run(agent.run("hi")).output)
    assert sorted(output) == ["forget_notes", "recall_notes", "remember_notes"]
    assert stored(provider) == ["a"]


def test_a_memory_tool_serves_an_agent_without_memory(provider):
    (remember, _) = MemoryRun([slot_of(provider)]).tools
    script = Script(call("remember_notes", note="x"), call("remember_notes", text="Lives in Oslo."), "ok")
    asyncio.run(Agent(script, tools=[pydantic_ai_tool(remember)]).run("hi"))
    assert script.requests[0].tools == ["remember_notes"]
    assert [outcome for _, outcome, _ in script.requests[2].tool_returns] == ["failed", "success"]
    assert stored(provider) == ["Lives in Oslo."]


def test_tools_are_shown_with_the_id_of_the_memory_and_without_a_schema_of_what_they_return(provider):
    script = Script("ok")
    memory = AgentMemory([slot_of(provider)], id="facts")
    asyncio.run(Agent(script, capabilities=[memory, IncludeToolReturnSchemas()]).run("hi"))
    definition = script.requests[0].definitions[0]
    assert (definition.toolset_id, definition.capability_id) == ("facts", "facts")
    assert "Return schema" not in definition.description
