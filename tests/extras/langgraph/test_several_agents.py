"""Sub-agents, hand-offs, and the chat that records what was said."""

import asyncio
from typing import NotRequired

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from embedders import HashEmbedder
from tests.extras.langgraph.models import RUNS, agent, model, say, slot, texts_of, thread
from vectormem import ChatStorage, blocking
from vectormem.adapters.langchain import MemoryMiddleware

OF_USER = {"scope": lambda context: f"user:{context.metadata['user_id']}"}


@pytest.fixture(params=RUNS)
def run(request):
    return RUNS[request.param]


def lead_and_helper(lead_asked, helper_asked, lead_slot, helper_slot):
    """Return an agent that calls another one through a tool, as LangChain shows it."""
    helper = agent(helper_asked, helper_slot)

    @tool
    def ask_helper(question: str) -> str:
        """Ask the helper."""
        return helper.invoke(say(question))["messages"][-1].text

    return agent(lead_asked, lead_slot, tools=[ask_helper], checkpointer=InMemorySaver(), context_schema=dict)


def test_a_sub_agent_recalls_its_own_memory_and_offers_its_own_tools(run):
    lead, helper = model(("ask_helper", {"question": "?"}), "ok"), model("fine")
    one = lead_and_helper(lead, helper, slot("Lead.", name="lead"), slot("Helper.", name="own"))
    run(one, say(), thread(), context={})
    assert helper.prompts == ['<memory name="own">\n- Helper.\n</memory>']
    assert helper.offered == [["remember_own", "recall_own"]]
    assert lead.prompts == ['<memory name="lead">\n- Lead.\n</memory>'] * 2
    assert lead.offered == [["ask_helper", "remember_lead", "recall_lead"]] * 2


def test_the_session_of_a_sub_agent_is_that_of_the_lead(run):
    helper, own = model(("remember_notes", {"text": "From the helper."}), "fine"), slot(scope="session")
    one = lead_and_helper(model(("ask_helper", {"question": "?"}), "ok"), helper, slot(name="lead"), own)
    run(one, say(), thread("t7"), context={})
    assert texts_of(own, "notes#session:t7") == ["From the helper."]


def test_the_user_of_a_sub_agent_is_that_of_the_lead(run):
    helper, own = model("fine"), slot(**OF_USER)
    blocking(own.provider).add("notes#user:ada", "Ada likes tea.")
    one = lead_and_helper(model(("ask_helper", {"question": "?"}), "ok"), helper, slot(name="lead"), own)
    run(one, say(), thread(), context={"user_id": "ada"})
    assert helper.prompts == ['<memory name="notes">\n- Ada likes tea.\n</memory>']


class DeskState(AgentState):
    desk: NotRequired[str]


class Desks(AgentMiddleware):
    """An agent that is handed over within its own run: another prompt and other tools from here on."""

    state_schema = DeskState

    def wrap_model_call(self, request, handler):
        return handler(request.override(system_prompt=f"You are {request.state.get('desk', 'sales')}."))

    async def awrap_model_call(self, request, handler):
        return await handler(request.override(system_prompt=f"You are {request.state.get('desk', 'sales')}."))


@tool
def hand_to_support() -> Command:
    """Hand over to support."""
    return Command(update={"desk": "support", "messages": [ToolMessage("handed over", tool_call_id="0-0")]})


def test_a_hand_off_within_an_agent_keeps_the_block_and_the_tools(run):
    notes, asked = slot("The user likes tea."), model(("hand_to_support", {}), "ok")
    middleware = [Desks(), MemoryMiddleware([notes])]
    run(create_agent(asked, [hand_to_support], middleware=middleware), say())
    block = '\n\n<memory name="notes">\n- The user likes tea.\n</memory>'
    assert asked.prompts == ["You are sales." + block, "You are support." + block]
    assert asked.offered == [["hand_to_support", "remember_notes", "recall_notes"]] * 2
    assert notes.provider.lists == 1


def test_agents_of_one_graph_that_share_a_middleware_share_a_memory(run):
    notes, first, second = slot(**OF_USER), model(("remember_notes", {"text": "Tea."}), "over to you"), model("ok")
    shared = MemoryMiddleware([notes])
    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("first", create_agent(first, middleware=[shared], context_schema=dict))
    graph.add_node("second", create_agent(second, middleware=[shared], context_schema=dict))
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    given = run(graph.compile(), say(), context={"user_id": "ada"})
    assert second.prompts == ['<memory name="notes">\n- Tea.\n</memory>']
    assert second.offered == [["remember_notes", "recall_notes"]]
    assert "recalled_memory" not in given


def test_the_turns_of_a_run_are_recorded(run):
    chat = ChatStorage(":memory:", embedder=HashEmbedder())
    asked = model(("remember_notes", {"text": "Tea."}), "Noted: tea.", "Still tea.")
    one = agent(asked, slot(), options={"chat": chat}, checkpointer=InMemorySaver())
    run(one, say("I like tea."), thread())
    run(one, say("What do I like?"), thread())
    assert [(message.role, message.content) for message in blocking(chat).messages("t1")] == [
        ("user", "I like tea."),
        ("assistant", "Noted: tea."),
        ("user", "What do I like?"),
        ("assistant", "Still tea."),
    ]


def test_an_answer_that_is_no_text_is_recorded_as_json(run):
    chat = ChatStorage(":memory:", embedder=HashEmbedder())
    schema = {"title": "Answer", "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    one = agent(model(("Answer", {"n": 3})), options={"chat": chat}, response_format=ToolStrategy(schema))
    run(one, say("How many?"), thread())
    assert [message.content for message in blocking(chat).messages("t1")] == ["How many?", '{"n":3}']


def test_a_chat_may_depend_on_the_run(run):
    chats = {name: ChatStorage(":memory:", embedder=HashEmbedder(), scope_key=name) for name in ("ada", "bo")}
    options = {"chat": lambda context: chats.get(context.metadata["user_id"])}
    one = agent(model("ok", "ok"), slot(), options=options, context_schema=dict)
    run(one, say("I am Ada."), context={"user_id": "ada"})
    run(one, say("I am nobody."), context={"user_id": "cy"})
    counts = {name: len(blocking(chat).conversations()) for name, chat in chats.items()}
    assert counts == {"ada": 1, "bo": 0}


def test_a_run_without_a_middleware_of_its_own_loop_works_from_within_a_loop():
    notes, asked = slot("Tea."), model("ok")

    async def sync_inside_async():
        return agent(asked, notes).invoke(say())

    asyncio.run(sync_inside_async())
    assert asked.prompts == ['<memory name="notes">\n- Tea.\n</memory>']
