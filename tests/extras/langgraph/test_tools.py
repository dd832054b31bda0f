"""The tools that the middleware offers to the model, and what calling them gives."""

import json

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from embedders import HashEmbedder
from tests.extras.langgraph.models import RUNS, agent, model, say, slot, texts_of
from tests.providers.stand_ins import MinimalProvider
from vectormem import (
    ChatStorage,
    Expose,
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryInvalidError,
    MemoryRun,
    blocking,
)
from vectormem.adapters.langchain_tools import langchain_tool


@pytest.fixture(params=RUNS)
def run(request):
    return RUNS[request.param]


def answers(given):
    return [message for message in given["messages"] if isinstance(message, ToolMessage)]


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"rain in {city}"


def test_the_tools_of_a_slot_are_offered_beside_those_of_the_agent(run):
    asked = model("ok")
    run(agent(asked, slot(expose=Expose(forget=True)), tools=[weather]), say())
    assert asked.offered == [["weather", "remember_notes", "recall_notes", "forget_notes"]]


def test_the_model_sees_the_schemas_of_the_memory_tools(run):
    schema = {"type": "object", "properties": {"kind": {"$ref": "#/$defs/Kind"}}, "$defs": {"Kind": {"enum": ["a"]}}}
    asked, notes = model("ok"), slot(item_schema=schema)
    run(agent(asked, notes), say())
    remember = asked.schemas["remember_notes"]
    assert remember["properties"]["kind"] in ({"$ref": "#/$defs/Kind"}, {"enum": ["a"]})
    assert set(asked.schemas["recall_notes"]["properties"]) == {"query", "limit"}


def test_a_call_is_answered_by_its_result_as_json(run):
    notes = slot()
    given = run(agent(model(("remember_notes", {"text": "Tea."}), "ok"), notes), say())
    (answer,) = answers(given)
    (item,) = blocking(notes.provider).list("notes#global")
    assert (answer.status, answer.name, answer.tool_call_id) == ("success", "remember_notes", "0-0")
    assert json.loads(answer.content) == {"remembered": item.id}


def test_an_agent_without_tools_of_its_own_can_call_those_of_its_memory(run):
    given = run(agent(model(("recall_notes", {}), "ok"), slot("Tea.")), say())
    assert [item["text"] for item in json.loads(answers(given)[0].content)["items"]] == ["Tea."]


def test_calls_at_once_are_all_answered(run):
    notes = slot()
    calls = [("remember_notes", {"text": f"item {n}"}) for n in range(5)]
    given = run(agent(model([*calls, ("weather", {"city": "Oslo"})], "ok"), notes, tools=[weather]), say())
    assert [answer.status for answer in answers(given)] == ["success"] * 6
    assert sorted(texts_of(notes)) == [f"item {n}" for n in range(5)]


def test_wrong_arguments_are_told_to_the_model_as_an_error_and_the_run_goes_on(run):
    given = run(agent(model(("remember_notes", {"note": "Tea."}), "ok"), slot()), say())
    (answer,) = answers(given)
    assert answer.status == "error"
    assert "text" in answer.content
    assert given["messages"][-1].text == "ok"


@pytest.mark.parametrize("name", ["self", "config", "run_manager", "tool", "kwargs"])
def test_arguments_of_any_name_are_arguments(run, name):
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    calls = [("remember_notes", {name: "dark"}), ("remember_plain", {name: "x", "text": "a"})]
    moods, plain = slot(item_schema=schema), slot(name="plain", provider=InMemoryMemory())
    given = run(agent(model(calls, "ok"), moods, plain), say())
    assert [answer.status for answer in answers(given)] == ["success", "error"]
    assert f"'{name}' was unexpected" in answers(given)[1].content
    assert [json.loads(text) for text in texts_of(moods)] == [{name: "dark"}]


def test_a_provider_that_fails_is_told_to_the_model_as_an_error(run):
    class Failing(MinimalProvider):
        async def list(self, scope_key, *, limit=None, query=None):
            raise OSError("the disk is gone")

    given = run(agent(model(("recall_broken", {}), "ok"), slot(name="broken", provider=Failing())), say())
    (answer,) = answers(given)
    assert (answer.status, "the disk is gone" in answer.content) == ("error", True)


def test_an_embedder_that_fails_is_told_to_the_model_as_an_error(run):
    class Failing(HashEmbedder):
        async def embed(self, texts, *, kind="document"):
            raise RuntimeError("no model")

    notes = slot(provider=InMemoryVectorMemory(embedder=Failing()))
    given = run(agent(model(("remember_notes", {"text": "Tea."}), "ok"), notes), say())
    (answer,) = answers(given)
    assert (answer.status, "no model" in answer.content) == ("error", True)
    assert texts_of(notes) == []


def test_a_tool_that_was_not_offered_is_no_memory_tool(run):
    given = run(agent(model(("forget_notes", {"id": "x"}), "ok"), slot("Tea."), tools=[weather]), say())
    assert answers(given)[0].status == "error"


def test_a_tool_of_the_agent_with_the_name_of_a_memory_tool_fails_the_run(run):
    @tool
    def recall_notes() -> str:
        """Do something else."""
        return ""

    with pytest.raises(MemoryInvalidError, match="'recall_notes' of its own"):
        run(agent(model("ok"), slot(), tools=[recall_notes]), say())


def test_further_tools_are_offered_and_called(run):
    chat = blocking(ChatStorage(":memory:", embedder=HashEmbedder(), scope_key="ada"))
    chat.save_message("old", "user", "My cat is called Miso.")
    search = chat.target.create_memory_retrieval_tool(min_similarity=0)
    asked = model(("search_memory", {"query": "cat"}), "ok")
    given = run(agent(asked, slot(), options={"tools": [search]}), say())
    assert asked.offered[0] == ["remember_notes", "recall_notes", "search_memory"]
    assert json.loads(answers(given)[0].content)["messages"][0]["text"] == "My cat is called Miso."


def test_further_tools_may_depend_on_the_run(run):
    def tools(context):
        chat = ChatStorage(":memory:", embedder=HashEmbedder(), scope_key=context.metadata["user_id"])
        return [chat.create_memory_retrieval_tool()] if context.metadata["user_id"] == "ada" else []

    asked = model("ok", "ok")
    one = agent(asked, slot(provider=InMemoryMemory()), options={"tools": tools}, context_schema=dict)
    run(one, say(), context={"user_id": "ada"})
    run(one, say(), context={"user_id": "bo"})
    assert ["search_memory" in names for names in asked.offered] == [True, False]


def test_a_graph_built_by_hand_calls_memory_tools_in_a_tool_node():
    notes = slot()
    node = ToolNode([langchain_tool(one) for one in MemoryRun([notes]).tools])
    graph = StateGraph(MessagesState).add_node("tools", node).set_entry_point("tools").compile()
    calls = [
        {"name": "remember_notes", "args": {"text": "Tea."}, "id": "1"},
        {"name": "remember_notes", "args": {"note": "Tea."}, "id": "2"},
    ]
    given = graph.invoke({"messages": [AIMessage("", tool_calls=calls)]})
    assert [answer.status for answer in answers(given)] == ["success", "error"]
    assert texts_of(notes) == ["Tea."]
