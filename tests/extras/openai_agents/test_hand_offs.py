"""Agents that hand off to others, and agents that are tools of others."""

import asyncio
import gc
import weakref

import pytest
from agents import Agent, Handoff, RunContextWrapper, Runner, function_tool, handoff
from agents.testing import ScriptedModel

from tests.extras.openai_agents.play import (
    SLOT_TOOLS,
    TEA,
    add,
    agent_of,
    call,
    define,
    holding,
    offered,
    outputs,
    prompts,
    remembering,
    run,
    texts_in,
)
from vectormem import MemoryContext
from vectormem.adapters.openai_agents import with_memory

TO_EXPERT = call("transfer_to_expert", _id="h1")
USER = "user:%s"


def per_user(**options):
    return define(scope=lambda context: USER % context.principal, **options)


@pytest.mark.parametrize("wrap", [lambda agent: agent, handoff], ids=["agent", "handoff"])
def test_the_target_keeps_the_leads_memory_and_does_not_use_its_own(wrap):
    lead_slot, own_slot = per_user(), per_user(name="own")
    ada = MemoryContext(principal="ada")
    add(lead_slot, "The user likes tea.", context=ada)
    add(own_slot, "secret of the expert", context=ada)
    lead_slot.provider.lists.clear()
    own_slot.provider.lists.clear()
    expert = with_memory(
        agent_of(call("remember_notes", text="Lives in Oslo."), "ok", name="expert", instructions="Know."), [own_slot]
    )
    lead = remembering([lead_slot], TO_EXPERT, handoffs=[wrap(expert)])
    result = run(lead, context=ada)
    assert result.last_agent.name == "expert"
    assert prompts(lead) == [f"Be brief.\n\n{TEA}"]
    assert prompts(expert) == [f"Know.\n\n{TEA}"] * 2
    assert offered(expert) == [SLOT_TOOLS] * 2
    assert texts_in(lead_slot, ada) == ["Lives in Oslo.", "The user likes tea."]
    assert lead_slot.provider.lists[:1] == [("notes#user:ada", 10, None)]
    assert own_slot.provider.lists == []


def test_the_run_recalls_once_across_a_hand_off():
    slot = holding()
    slot.provider.lists.clear()
    run(remembering([slot], TO_EXPERT, handoffs=[agent_of("ok", name="expert")]))
    assert len(slot.provider.lists) == 1


def test_targets_of_targets_keep_it_too_also_in_a_circle():
    expert = agent_of(call("transfer_to_last", _id="h2"), "back here", name="expert")
    last = agent_of(call("transfer_to_expert", _id="h3"), name="last", handoffs=[expert])
    expert.handoffs.append(last)
    lead = remembering([holding()], TO_EXPERT, handoffs=[expert])
    assert run(lead).final_output == "back here"
    assert prompts(expert) + prompts(last) == [f"Be brief.\n\n{TEA}"] * 3


def test_the_agents_that_were_given_are_left_as_they_were():
    expert = agent_of("plain", name="expert")
    lead = agent_of(TO_EXPERT, handoffs=[expert])
    with_memory(lead, [holding()])
    assert run(lead).last_agent is expert
    assert prompts(expert) == ["Be brief."]


def test_a_target_that_is_made_when_it_is_needed_keeps_it():
    expert = agent_of("ok", name="expert")

    async def make(context, arguments):
        return expert

    target = Handoff("transfer_to_expert", "", {}, make, "expert")
    run(remembering([holding()], TO_EXPERT, handoffs=[target]))
    assert prompts(expert) == [f"Be brief.\n\n{TEA}"]


def test_an_agent_with_memory_that_a_lead_without_any_hands_off_to_begins_the_runs_memory():
    slot = holding()
    expert = remembering([slot], call("remember_notes", text="Lives in Oslo."), "ok", name="expert")
    lead = agent_of(TO_EXPERT, handoffs=[expert])
    run(lead)
    assert prompts(lead) == ["Be brief."]
    assert prompts(expert) == [f"Be brief.\n\n{TEA}"] * 2
    assert offered(expert) == [SLOT_TOOLS] * 2


def test_it_does_so_too_where_the_lead_calls_tools_in_the_same_answer():
    @function_tool
    def clock() -> str:
        """Tell the time."""
        return "noon"

    expert = remembering([holding()], "ok", name="expert")
    other = agent_of("never", name="other")
    answer = [call("clock", _id="c0"), TO_EXPERT, call("transfer_to_other", _id="h2")]
    run(agent_of(call("clock", _id="c9"), answer, handoffs=[expert, other], tools=[clock]))
    assert prompts(expert) == [f"Be brief.\n\n{TEA}"]
    assert offered(expert) == [SLOT_TOOLS]


def test_the_next_run_with_the_last_agent_has_the_leads_memory():
    slot = holding()
    expert = agent_of("ok", "again", name="expert")
    lead = remembering([slot], TO_EXPERT, handoffs=[expert])
    result = run(lead)
    run(result.last_agent, [*result.to_input_list(), {"role": "user", "content": "more"}])
    assert prompts(expert) == [f"Be brief.\n\n{TEA}"] * 2


def test_a_hand_off_with_an_input_filter_and_a_callback_still_has_them():
    seen = []
    expert = agent_of("ok", name="expert")
    target = handoff(expert, on_handoff=lambda context: seen.append(context.context), tool_name_override="escalate")
    run(remembering([holding()], call("escalate", _id="h1"), handoffs=[target]), context={"user": "ada"})
    assert seen == [{"user": "ada"}]
    assert prompts(expert) == [f"Be brief.\n\n{TEA}"]


def as_tool(agent):
    return agent.as_tool("ask_expert", "Ask the expert.")


def ask(text="tea?", _id="a1"):
    return call("ask_expert", input=text, _id=_id)


def test_an_agent_that_is_a_tool_has_its_own_memory_under_the_keys_of_the_leads_run():
    lead_slot, own_slot = per_user(), per_user(name="own")
    ada = MemoryContext(principal="ada")
    add(lead_slot, "known to the lead", context=ada)
    add(own_slot, "known to the expert", context=ada)
    expert = remembering([own_slot], call("remember_own", text="Asked.", _id="c2"), "yes", name="expert")
    lead = remembering(
        [lead_slot], ask(), call("remember_notes", text="Done.", _id="c3"), "ok", tools=[as_tool(expert)]
    )
    result = run(lead, context=ada)
    assert outputs(result)[0] == "yes"
    assert prompts(expert) == ['Be brief.\n\n<memory name="own">\n- known to the expert\n</memory>'] * 2
    assert offered(expert) == [["remember_own", "recall_own"]] * 2
    assert prompts(lead) == ['Be brief.\n\n<memory name="notes">\n- known to the lead\n</memory>'] * 3
    assert offered(lead) == [["ask_expert", *SLOT_TOOLS]] * 3
    assert texts_in(own_slot, ada) == ["Asked.", "known to the expert"]
    assert texts_in(lead_slot, ada) == ["Done.", "known to the lead"]


def test_an_agent_without_memory_that_is_a_tool_sees_nothing_of_the_leads():
    expert = agent_of("yes", name="expert")
    run(remembering([holding()], ask(), "ok", tools=[as_tool(expert)]))
    assert (prompts(expert), offered(expert)) == (["Be brief."], [[]])


def test_each_call_of_an_agent_that_is_a_tool_is_a_run_of_its_own():
    slot = holding(recall={"query": "last-input"})
    expert = remembering([slot], "one", "two", name="expert")
    slot.provider.lists.clear()
    run(agent_of(ask("tea?", "a1"), ask("Oslo?", "a2"), "ok", tools=[as_tool(expert)]))
    assert [query for _, _, query in slot.provider.lists] == ["tea?", "Oslo?"]


def test_the_same_memory_in_a_lead_and_in_the_agent_that_is_its_tool_is_two_runs():
    slot = define()
    expert = remembering([slot], "yes", name="expert")
    lead = remembering([slot], call("remember_notes", text="New."), ask(), "ok", tools=[as_tool(expert)])
    run(lead)
    assert prompts(lead) == ["Be brief."] * 3
    assert prompts(expert) == ['Be brief.\n\n<memory name="notes">\n- New.\n</memory>']


def test_an_agent_that_a_tool_runs_in_its_own_context_is_no_resumed_run():
    slot = holding()
    expert = remembering([slot], call("remember_notes", text="Lives in Oslo.", _id="c2"), "yes", name="expert")

    @function_tool
    async def consult(context: RunContextWrapper, text: str) -> str:
        """Ask the expert."""
        return (await Runner.run(expert, text, context=context)).final_output

    lead_slot = holding("known to the lead", name="lead")
    lead = remembering([lead_slot], call("consult", text="tea?"), "ok", tools=[consult])
    assert run(lead).final_output == "ok"
    assert prompts(expert) == [f"Be brief.\n\n{TEA}"] * 2
    assert offered(expert) == [SLOT_TOOLS] * 2
    assert prompts(lead) == ['Be brief.\n\n<memory name="lead">\n- known to the lead\n</memory>'] * 2


def test_agents_that_tools_run_in_one_context_at_the_same_time_are_no_resumed_runs():
    expert = remembering([holding()], "yes", "yes", name="expert")

    @function_tool
    async def consult(context: RunContextWrapper, text: str) -> str:
        """Ask the expert."""
        return (await Runner.run(expert, text, context=context)).final_output

    both = [call("consult", text=text, _id=text) for text in ("tea?", "Oslo?")]
    run(remembering([define("lead")], both, "ok", tools=[consult]))
    assert offered(expert) == [SLOT_TOOLS] * 2


def test_hand_offs_that_make_a_new_agent_each_time_keep_none_of_them():
    made = []

    async def make(context, arguments):
        expert = Agent(name="expert", model=ScriptedModel([agent_of("ok").model._steps[0]]))
        made.append(weakref.ref(expert))
        return expert

    target = Handoff("transfer_to_expert", "", {}, make, "expert")
    lead = remembering([define()], TO_EXPERT, TO_EXPERT, handoffs=[target])
    for _ in range(2):
        asyncio.run(Runner.run(lead, "hi"))
    gc.collect()
    assert [expert() for expert in made] == [None, None]
