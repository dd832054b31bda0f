"""Runs beside and after each other, runs that fail, and what becomes of the agent itself."""

import asyncio
import gc
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from agents import Agent, MaxTurnsExceeded, RunContextWrapper, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message

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
from vectormem import MemoryContext, MemoryInvalidError, blocking, memory_key
from vectormem.adapters.openai_agents import _runs, with_memory


@function_tool
def recall_notes() -> str:
    """Do something else than the memory."""
    return ""


async def remembering_who_asks(request):
    """Answer the first call of a run with a tool call, and the second with the user's name."""
    await asyncio.sleep(0)
    user = request.input[0]["content"]
    answered = any(item.get("type") == "function_call_output" for item in request.input)
    return [assistant_message(user)] if answered else [call("remember_notes", text=f"{user} was here.")]


def test_runs_at_the_same_time_never_mix():
    slot = define(scope=lambda context: f"user:{context.principal}")
    users = [f"u{n}" for n in range(20)]
    for user in users:
        add(slot, f"I am {user}.", context=MemoryContext(principal=user))
    model = ScriptedModel([ModelStep.respond(remembering_who_asks)] * (2 * len(users)))
    agent = with_memory(Agent(name="a", model=model), [slot])

    async def main():
        runs = (Runner.run(agent, user, context=MemoryContext(principal=user)) for user in users)
        return [result.final_output for result in await asyncio.gather(*runs)]

    assert asyncio.run(main()) == users
    shown = {(one.input[0]["content"], one.system_instructions) for one in model.calls}
    assert shown == {(user, f'<memory name="notes">\n- I am {user}.\n</memory>') for user in users}
    for user in users:
        assert texts_in(slot, MemoryContext(principal=user)) == [f"{user} was here.", f"I am {user}."]


def test_one_agent_serves_several_event_loops():
    slot = holding()
    agent = remembering([slot], "one", "two")
    assert [run(agent).final_output, run(agent).final_output] == ["one", "two"]


def test_a_run_that_fails_leaves_nothing_for_the_next():
    slot = holding()
    agent = remembering([slot], call("recall_notes"), "two")
    with pytest.raises(MaxTurnsExceeded):
        run(agent, max_turns=1)
    add(slot, "Lives in Oslo.")
    run(agent)
    assert "- Lives in Oslo." in prompts(agent)[1]
    assert offered(agent) == [SLOT_TOOLS] * 2


def test_a_run_that_is_cancelled_while_it_recalls_leaves_nothing_locked():
    slot = holding()
    agent = remembering([slot], "ok")
    real = type(slot.provider).list

    async def main():
        asked = asyncio.Event()

        async def waiting(*args, **options):
            asked.set()
            await asyncio.Event().wait()

        slot.provider.list = waiting
        task = asyncio.ensure_future(Runner.run(agent, "hi"))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        slot.provider.list = real.__get__(slot.provider)
        return await Runner.run(agent, "hi")

    assert asyncio.run(main()).final_output == "ok"
    assert prompts(agent) == [f"Be brief.\n\n{TEA}"]


def test_the_agent_itself_is_left_as_it_was_and_clones_of_the_other_have_its_memory():
    plain = agent_of("plain")
    clone = with_memory(plain, [holding()]).clone(name="other", model=agent_of("ok").model)
    run(plain)
    run(clone)
    assert (prompts(plain), offered(plain), plain.hooks) == (["Be brief."], [[]], None)
    assert prompts(clone) == [f"Be brief.\n\n{TEA}"]


def test_an_agent_of_another_class_keeps_it_with_its_fields():
    @dataclass
    class Special(Agent):
        mood: str = "calm"

        async def get_system_prompt(self, run_context):
            return f"{await super().get_system_prompt(run_context)} Be {self.mood}."

    agent = with_memory(Special("a", instructions="Hi.", model=agent_of("ok").model, mood="merry"), [holding()])
    run(agent)
    assert isinstance(agent, Special)
    assert prompts(agent) == [f"Hi. Be merry.\n\n{TEA}"]


def test_two_memories_of_one_name_and_two_tools_of_one_name_are_refused():
    with pytest.raises(MemoryInvalidError, match="remember_notes"):
        remembering([define(), define()], "ok")
    with pytest.raises(MemoryInvalidError, match="recall_notes"):
        remembering([define()], "ok", tools=[recall_notes])


def test_an_agent_gets_memory_once():
    with pytest.raises(MemoryInvalidError, match="an Agent without memory"):
        with_memory(remembering([define()], "ok"), [define("other")])


def test_a_run_in_the_context_of_an_earlier_run_recalls_anew():
    slot, context = holding(), RunContextWrapper(None)
    agent = remembering([slot], call("recall_notes"), "one", "two")
    run(agent, context=context)
    add(slot, "Lives in Oslo.")
    run(agent, context=context)
    assert "- Lives in Oslo." in prompts(agent)[2]
    assert offered(agent) == [SLOT_TOOLS] * 3


def test_what_a_tool_stores_is_there_for_every_other_program():
    slot = define()
    result = run(remembering([slot], call("remember_notes", text="Lives in Oslo."), "ok"))
    [item] = blocking(slot.provider).list(memory_key(slot))
    assert outputs(result) == [f'{{"remembered": "{item.id}"}}']


@pytest.mark.parametrize("slots", [["notes"], [None], "notes", None, 7])
def test_what_are_no_slots_is_refused(slots):
    with pytest.raises(MemoryInvalidError, match="slots must be"):
        with_memory(agent_of("ok"), slots)


def test_one_slot_alone_is_refused():
    with pytest.raises(MemoryInvalidError, match="slots must be"):
        with_memory(agent_of("ok"), define())


@pytest.mark.parametrize("agent", [None, "lead", Runner])
def test_what_is_no_agent_is_refused(agent):
    with pytest.raises(MemoryInvalidError, match="takes an Agent"):
        with_memory(agent, [define()])


def test_threads_may_run_one_agent_at_the_same_time():
    slot = define(scope=lambda context: f"user:{context.principal}")
    users = [f"u{n}" for n in range(8)]
    for user in users:
        add(slot, f"I am {user}.", context=MemoryContext(principal=user))
    model = ScriptedModel([ModelStep.respond(remembering_who_asks)] * (2 * len(users)))
    agent = with_memory(Agent(name="a", model=model), [slot])
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda user: run(agent, user, context=MemoryContext(principal=user)), users))
    assert [result.final_output for result in results] == users
    shown = {(one.input[0]["content"], one.system_instructions) for one in model.calls}
    assert shown == {(user, f'<memory name="notes">\n- I am {user}.\n</memory>') for user in users}


def test_nothing_of_a_run_stays_in_memory():
    slot = holding()
    agent = remembering([slot], call("recall_notes"), "ok")
    run(agent)
    gc.collect()
    assert (len(_runs._live), len(_runs._paused)) == (0, 0)


def test_a_run_that_stops_at_a_memory_tool_gives_its_answer():
    slot = holding("The user likes tea.")
    agent = remembering([slot], call("recall_notes"), "two", tool_use_behavior="stop_on_first_tool")
    assert json.loads(run(agent).final_output)["items"][0]["text"] == "The user likes tea."
    run(agent)
    assert prompts(agent) == [f"Be brief.\n\n{TEA}"] * 2
