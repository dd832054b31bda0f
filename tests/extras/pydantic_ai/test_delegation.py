"""Agents that call others: a sub-agent has memory of its own, a hand-off target keeps the lead's."""

import asyncio

import pytest
from pydantic_ai import Agent, RunContext

from tests.extras.pydantic_ai.conftest import CountingMemory, block, holding, slot_of, stored
from tests.extras.pydantic_ai.script import Script, call
from vectormem import ChatStorage, MemoryInvalidError, blocking
from vectormem.adapters.pydantic_ai import AgentMemory
from vectormem.testing import HashEmbedder

TEA = "The user likes tea."


def lead_with(script, memory, tool):
    agent = Agent(script, instructions="You lead.", deps_type=object, capabilities=[memory])
    agent.tool(tool)
    return agent


def test_a_sub_agent_has_its_own_slots_under_the_scope_keys_of_the_leads_run(provider):
    own = CountingMemory()
    lead_slot = holding(provider, TEA, scope="session", key="notes#session:s1")
    sub_slot = holding(own, "Finds flights.", name="finds", scope="session", key="finds#session:s1")
    sub_script = Script(call("remember_finds", text="Finds trains."), "found")
    sub_memory = AgentMemory([sub_slot])
    sub = Agent(sub_script, instructions="You help.", capabilities=[sub_memory])

    async def ask(ctx: RunContext, question: str) -> str:
        return (await sub.run(question, capabilities=[sub_memory.under(ctx)])).output

    script = Script(call("ask", question="trains?"), "ok")
    asyncio.run(lead_with(script, AgentMemory([lead_slot]), ask).run("hi", conversation_id="s1"))
    assert [request.instructions for request in sub_script.requests] == [
        f"You help.\n\n{block('Finds flights.', name='finds')}"
    ] * 2
    assert sub_script.requests[0].tools == ["remember_finds", "recall_finds"]
    assert [request.instructions for request in script.requests] == [f"You lead.\n\n{block(TEA)}"] * 2
    assert script.requests[0].tools == ["ask", "remember_notes", "recall_notes"]
    assert stored(own, "finds#session:s1") == ["Finds trains.", "Finds flights."]


def test_the_metadata_and_the_principal_of_the_lead_decide_the_keys_of_a_sub_agent():
    own = CountingMemory()
    sub_memory = AgentMemory([slot_of(own, scope=lambda one: f"{one.principal['user']}:{one.metadata['team']}")])
    sub = Agent(Script(call("remember_notes", text="x"), "found"), capabilities=[sub_memory])

    async def ask(ctx: RunContext) -> str:
        return (await sub.run("?", capabilities=[sub_memory.under(ctx)])).output

    lead = lead_with(Script(call("ask"), "ok"), AgentMemory([]), ask)
    asyncio.run(lead.run("hi", deps={"user": "ada"}, metadata={"team": "blue"}))
    assert stored(own, "notes#ada:blue") == ["x"]


def test_a_sub_agent_that_is_run_without_the_lead_has_a_session_of_its_own():
    own = CountingMemory()
    sub = Agent(
        Script(call("remember_notes", text="x"), "ok"), capabilities=[AgentMemory([slot_of(own, scope="session")])]
    )

    async def ask(ctx: RunContext) -> str:
        return (await sub.run("?")).output

    asyncio.run(lead_with(Script(call("ask"), "ok"), AgentMemory([]), ask).run("hi", conversation_id="s1"))
    assert stored(own, "notes#session:s1") == []


@pytest.mark.parametrize("target_has_memory", [True, False])
def test_the_target_of_a_hand_off_keeps_the_leads_memory_and_does_not_use_its_own(provider, target_has_memory):
    own = CountingMemory()
    lead_slot = holding(provider, TEA, scope="session", key="notes#session:s1")
    target_slot = holding(own, "Bills in euros.", name="bills")
    target_script = Script(call("remember_notes", text="Asked for a bill."), "Here it is.")
    memories = [AgentMemory([target_slot])] if target_has_memory else []
    target = Agent(target_script, instructions="You bill.", capabilities=memories)

    async def hand_off(ctx: RunContext, request: str) -> str:
        return (await target.run(request, capabilities=[AgentMemory.of(ctx)])).output

    lead = Agent(
        Script(call("final_result", request="a bill")),
        instructions="You lead.",
        output_type=hand_off,
        capabilities=[AgentMemory([lead_slot])],
    )
    result = asyncio.run(lead.run("hi", conversation_id="s1"))
    assert result.output == "Here it is."
    assert [request.instructions for request in target_script.requests] == [f"You bill.\n\n{block(TEA)}"] * 2
    assert target_script.requests[0].tools == lead.model.requests[0].tools == ["remember_notes", "recall_notes"]
    assert stored(provider, "notes#session:s1") == ["Asked for a bill.", TEA]
    assert own.queries == []
    assert provider.queries[:-1] == [("notes#session:s1", None)]


def test_after_the_leads_run_its_memory_given_to_the_target_recalls_under_the_same_keys(provider):
    own = CountingMemory()
    memory = AgentMemory([holding(provider, TEA, scope="session", key="notes#session:s1")])
    lead, target_script = Agent(Script("Over to billing."), capabilities=[memory]), Script("Hello.")
    target = Agent(target_script, capabilities=[AgentMemory([slot_of(own, "bills")])])

    async def converse():
        done = await lead.run("a bill", conversation_id="s1")
        await target.run("please", conversation=done.conversation, capabilities=[memory])

    asyncio.run(converse())
    assert target_script.requests[0].instructions == block(TEA)
    assert target_script.requests[0].tools == ["remember_notes", "recall_notes"]
    assert own.queries == []


def test_a_hand_off_records_the_turns_of_the_user_once(provider):
    chat = ChatStorage(":memory:", embedder=HashEmbedder())
    target = Agent(Script("Here it is."))

    async def hand_off(ctx: RunContext, request: str) -> str:
        return (await target.run(request, capabilities=[AgentMemory.of(ctx)])).output

    lead = Agent(
        Script([("final_result", {"request": "a bill"})]),
        output_type=hand_off,
        capabilities=[AgentMemory([slot_of(provider)], chat=chat)],
    )
    asyncio.run(lead.run("hi", conversation_id="s1"))
    assert [(one.role, one.content) for one in blocking(chat).messages("s1")] == [
        ("user", "hi"),
        ("assistant", "Here it is."),
    ]


def test_what_a_run_without_memory_has_cannot_be_handed_on():
    async def ask(ctx: RunContext) -> str:
        AgentMemory.of(ctx)
        return "never"

    agent = Agent(Script(call("ask"), "ok"))
    agent.tool(ask)
    with pytest.raises(MemoryInvalidError, match="this run has no memory"):
        asyncio.run(agent.run("hi"))
