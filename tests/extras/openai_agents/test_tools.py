"""Memory tools as the model calls them."""

import asyncio
import json
from dataclasses import dataclass

import pytest
from agents import FunctionTool, RunContextWrapper
from agents.testing import function_call

from tests.extras.openai_agents.play import add, call, define, holding, offered, outputs, remembering, run, texts_in
from vectormem import ChatStorage, MemoryInvalidError, MemoryTool, blocking, memory_key
from vectormem.testing import HashEmbedder


@dataclass
class Fact:
    topic: str
    value: str


def tools_of(agent):
    return {tool.name: tool for tool in agent.model.calls[0].tools}


def test_name_description_and_schema_are_those_of_the_memory_tool():
    slot = define(description="About the user.", item_schema=Fact, expose={"forget": True})
    agent = remembering([slot], "ok")
    run(agent)
    tools = tools_of(agent)
    assert list(tools) == ["remember_notes", "recall_notes", "forget_notes"]
    assert all(isinstance(tool, FunctionTool) and not tool.strict_json_schema for tool in tools.values())
    assert tools["remember_notes"].description.endswith("About the user.")
    assert tools["remember_notes"].params_json_schema == slot.item_schema.json_schema
    assert tools["forget_notes"].params_json_schema["required"] == ["id"]


def test_only_exposed_tools_are_offered():
    agent = remembering([define(expose={"remember": False})], "ok")
    run(agent)
    assert offered(agent) == [["recall_notes"]]


def test_own_tools_come_first_and_work():
    @dataclass
    class Calls:
        made: int = 0

    counted = Calls()

    async def invoke(context: RunContextWrapper, arguments: str) -> str:
        counted.made += 1
        return "done"

    own = FunctionTool("own", "own", {"type": "object", "properties": {}}, invoke, strict_json_schema=False)
    agent = remembering([define()], call("own"), "ok", tools=[own])
    run(agent)
    assert offered(agent)[0] == ["own", "remember_notes", "recall_notes"]
    assert counted.made == 1


def test_recall_and_forget_answer_as_json():
    slot = holding("The user likes tea.", "Lives in Oslo.", expose={"forget": True})
    [oslo, tea] = blocking(slot.provider).list(memory_key(slot))
    agent = remembering(
        [slot],
        call("recall_notes", query="tea", _id="c1"),
        call("forget_notes", id=oslo.id, _id="c2"),
        call("forget_notes", id="nobody", _id="c3"),
        "ok",
    )
    recalled, forgotten, unknown = map(json.loads, outputs(run(agent)))
    assert [(item["id"], item["text"]) for item in recalled["items"]] == [(tea.id, "The user likes tea.")]
    assert forgotten == {"forgotten": oslo.id}
    assert unknown == {"forgotten": None, "reason": "No item with this id."}
    assert texts_in(slot) == ["The user likes tea."]


def test_what_is_wrong_with_a_call_is_told_to_the_model_and_the_run_goes_on():
    slot = define()
    steps = [
        call("remember_notes", text="", _id="c1"),
        call("remember_notes", text="x", more=1, _id="c2"),
        call("recall_notes", limit=0, _id="c3"),
    ]
    result = run(remembering([slot], *steps, "Sorry."))
    assert [output.startswith("Error: ") for output in outputs(result)] == [True] * 3
    assert "more" in outputs(result)[1]
    assert result.final_output == "Sorry."
    assert texts_in(slot) == []


def test_arguments_that_are_no_json_are_told_to_the_model():
    broken = function_call("remember_notes", '{"text": ', call_id="c1")
    result = run(remembering([define()], broken, "Sorry."))
    assert result.final_output == "Sorry."
    assert "JSON" in outputs(result)[0]


def test_a_memory_that_fails_is_told_to_the_model():
    slot = define()
    agent = remembering([slot], call("recall_notes"), "Sorry.")
    slot.provider.failing = OSError("disk gone")
    result = run(agent)
    assert outputs(result) == ["Error: the provider of memory 'notes' failed: OSError('disk gone')"]
    assert result.final_output == "Sorry."


def test_an_item_that_replaces_another_says_so():
    slot = define(item_schema=Fact, item_key="topic")
    add_fact = {"topic": "language", "value": "French"}
    agent = remembering(
        [slot],
        call("remember_notes", **add_fact, _id="c1"),
        call("remember_notes", topic="language", value="English", _id="c2"),
        "ok",
    )
    first, second = map(json.loads, outputs(run(agent)))
    assert second == {**first, "replaced": True}
    assert texts_in(slot) == ['{"topic":"language","value":"English"}']


def test_further_tools_are_made_for_each_run():
    chat = ChatStorage(":memory:", embedder=HashEmbedder())
    asyncio.run(chat.save_message("old", "user", "The spare key is under the blue pot"))
    asyncio.run(chat.save_message("now", "user", "The spare key is somewhere"))

    def tools(context):
        return [chat.create_memory_retrieval_tool(exclude_conversation_id=context.session_id)]

    steps = [call("search_memory", query="spare key"), "ok"]
    agent = remembering([define()], *steps, memory={"tools": tools})
    result = run(agent, context={"session_id": "now"})
    found = json.loads(outputs(result)[0])["messages"]
    blocking(chat).close()
    assert offered(agent)[0] == ["remember_notes", "recall_notes", "search_memory"]
    assert [message["conversationId"] for message in found] == ["old"]


def test_a_further_tool_may_not_have_the_name_of_another():
    async def handle(arguments):
        return {}

    tool = MemoryTool(name="recall_notes", description="", input_schema={}, annotations={}, handler=handle)
    with pytest.raises(MemoryInvalidError, match="recall_notes"):
        run(remembering([define()], "never", memory={"tools": [tool]}))


def test_several_calls_in_one_answer_are_all_made():
    slot = define()
    both = [call("remember_notes", text="one", _id="c1"), call("remember_notes", text="two", _id="c2")]
    run(remembering([slot], both, "ok"))
    assert sorted(texts_in(slot)) == ["one", "two"]


def test_a_change_between_the_calls_of_a_run_is_not_in_its_block():
    slot = holding("old")
    agent = remembering([slot], call("recall_notes"), "ok")
    run(agent)
    add(slot, "new")
    assert ["- new" in one.system_instructions for one in agent.model.calls] == [False, False]
