"""Runs that pause for an approval: the same block afterwards, one recall, and no memory tools for the rest of it."""

import asyncio
import json
from collections import deque

import pytest
from agents import RunState

from tests.extras.openai_agents.pauses import BLOCK, DELETE, as_text, in_memory, pausing, resume
from tests.extras.openai_agents.play import (
    SLOT_TOOLS,
    add,
    call,
    define,
    holding,
    offered,
    outputs,
    prompts,
    run,
    texts_in,
)
from vectormem import MemoryContext, MemoryTool
from vectormem.adapters.openai_agents import _runs

EVERY_FORM = pytest.mark.parametrize("form", [as_text, in_memory])
EITHER_WAY = pytest.mark.parametrize("approve", [True, False], ids=["approved", "rejected"])


@EVERY_FORM
@EITHER_WAY
def test_a_resumed_run_has_the_same_block_one_recall_and_no_memory_tools(form, approve):
    slot = holding()
    slot.provider.lists.clear()
    agent = pausing([slot], DELETE, call("delete", path="/b", _id="d2"), "Done.")
    paused = run(agent)
    assert [item.name for item in paused.interruptions] == ["delete"]
    add(slot, "Lives in Oslo.")
    again = resume(form(paused, agent), agent, approve=approve)
    final = resume(form(again, agent), agent, approve=approve)
    assert final.final_output == "Done."
    assert prompts(agent) == [BLOCK] * 3
    assert len(slot.provider.lists) == 1
    assert offered(agent) == [["delete", *SLOT_TOOLS], ["delete"], ["delete"]]
    assert (outputs(final) == ["deleted /a", "deleted /b"]) is approve


@EVERY_FORM
def test_memory_tools_are_offered_again_in_the_run_after_it(form):
    slot = holding()
    agent = pausing([slot], DELETE, "Done.", "Hello.")
    resume(form(run(agent), agent), agent)
    add(slot, "Lives in Oslo.")
    run(agent)
    assert offered(agent)[2] == ["delete", *SLOT_TOOLS]
    assert "- Lives in Oslo." in prompts(agent)[2]


def test_the_block_is_not_in_the_state():
    agent = pausing([holding()], DELETE)
    assert "<memory" not in run(agent).to_state().to_string()
    assert "likes tea" not in run(pausing([holding()], DELETE)).to_state().to_string()


def test_further_tools_are_offered_in_a_resumed_run():
    async def handle(arguments):
        return {"time": "noon"}

    clock = MemoryTool(name="clock", description="", input_schema={"type": "object"}, annotations={}, handler=handle)
    agent = pausing([define()], DELETE, call("clock", _id="c2"), "Done.", memory={"tools": [clock]})
    final = resume(as_text(run(agent), agent), agent)
    assert offered(agent)[1:] == [["delete", "clock"]] * 2
    assert json.loads(outputs(final)[1]) == {"time": "noon"}


def test_memory_calls_beside_the_one_that_waits_are_made_once():
    slot = define()
    agent = pausing([slot], [call("remember_notes", text="one", _id="c1"), DELETE], "Done.")
    paused = run(agent)
    assert texts_in(slot) == ["one"]
    final = resume(as_text(paused, agent), agent)
    assert final.final_output == "Done."
    assert min(outputs(final)) == "deleted /a"
    assert len(outputs(final)) == 2
    assert texts_in(slot) == ["one"]


def test_a_first_turn_that_is_the_same_takes_nothing_of_a_paused_run():
    slot = holding()
    agent = pausing([slot], DELETE, "other run", "Done.")
    paused = run(agent)
    add(slot, "Lives in Oslo.")
    run(agent)
    assert "- Lives in Oslo." in prompts(agent)[1]
    assert offered(agent)[1] == ["delete", *SLOT_TOOLS]
    resume(as_text(paused, agent), agent)
    assert prompts(agent)[2] == BLOCK


def test_the_paused_run_of_another_user_is_not_taken():
    slot = define(scope=lambda context: f"user:{context.principal}")
    contexts = {user: MemoryContext(principal=user) for user in ("ada", "bob")}
    for user, context in contexts.items():
        add(slot, f"I am {user}.", context=context)
    agent = pausing([slot], DELETE, DELETE, "Done.", "Done.")
    paused = {user: run(agent, context=context) for user, context in contexts.items()}
    for user, context in contexts.items():
        state = paused[user].to_state()
        resume(state, agent, context=context)
    blocks = [f'Be brief.\n\n<memory name="notes">\n- I am {user}.\n</memory>' for user in ("ada", "bob")]
    assert prompts(agent) == blocks * 2


def test_a_state_that_is_resumed_as_another_user_recalls_that_users_memory():
    slot = define(scope=lambda context: f"user:{context.metadata['user']}")
    add(slot, "I am Ada.", context=MemoryContext(metadata={"user": "ada"}))
    add(slot, "I am Bob.", context=MemoryContext(metadata={"user": "bob"}))
    agent = pausing([slot], DELETE, "Done.")
    state = as_text(run(agent, context={"user": "ada"}), agent)
    resume(state, agent, context={"user": "bob"})
    assert "Ada" in prompts(agent)[0]
    assert "Ada" not in prompts(agent)[1]
    assert "Bob" in prompts(agent)[1]


def test_what_was_kept_is_erased_when_the_run_has_ended():
    agent = pausing([holding()], DELETE, "Done.", call("recall_notes"), "ok")
    paused = run(agent)
    assert len(_runs._paused) == 1
    resume(as_text(paused, agent), agent)
    run(agent)
    assert list(_runs._paused) == []


def test_a_resumed_run_that_fails_is_resumed_once_more_with_the_same_block():
    slot = holding()
    agent = pausing([slot], DELETE, ConnectionError("the model is gone"), "Done.")
    text = run(agent).to_state().to_string()
    add(slot, "Lives in Oslo.")
    slot.provider.lists.clear()
    with pytest.raises(ConnectionError):
        resume(asyncio.run(RunState.from_string(agent, text)), agent)
    assert resume(asyncio.run(RunState.from_string(agent, text)), agent).final_output == "Done."
    assert prompts(agent) == [BLOCK] * 3
    assert slot.provider.lists == []
    assert list(_runs._paused) == []


def test_what_is_kept_of_paused_runs_is_bounded(monkeypatch):
    monkeypatch.setattr(_runs, "_paused", deque(maxlen=2))
    slot = holding()
    agents = [pausing([slot], call("delete", path="/a", _id=f"d{n}"), "Done.") for n in range(3)]
    paused = [run(agent) for agent in agents]
    add(slot, "Lives in Oslo.")
    for agent, result in zip(agents, paused, strict=True):
        resume(as_text(result, agent), agent)
    assert ["Oslo" in prompts(agent)[1] for agent in agents] == [True, False, False]


def test_where_nothing_is_kept_as_in_another_process_a_resumed_run_recalls_once_and_has_no_memory_tools():
    slot = holding(recall={"query": "last-input"})
    agent = pausing([slot], DELETE, call("delete", path="/b", _id="d2"), "Done.")
    paused = run(agent, "tea?")
    _runs._paused.clear()
    add(slot, "Tea at noon.")
    slot.provider.lists.clear()
    state = as_text(paused, agent)
    again = resume(state, agent)
    resume(as_text(again, agent), agent)
    assert [query for _, _, query in slot.provider.lists] == ["tea?"]
    assert "- Tea at noon." in prompts(agent)[1]
    assert prompts(agent)[1] == prompts(agent)[2]
    assert offered(agent)[1:] == [["delete"]] * 2


def test_an_agent_that_is_made_anew_for_each_request_finds_the_block():
    slot = holding()
    first, second = pausing([slot], DELETE), pausing([slot], "Done.")
    paused = run(first)
    add(slot, "Lives in Oslo.")
    state = asyncio.run(RunState.from_string(second, paused.to_state().to_string()))
    resume(state, second)
    assert prompts(second) == [BLOCK]


def test_runs_that_made_calls_of_the_same_ids_are_told_apart_by_what_the_user_said():
    slot = holding()
    agent = pausing([slot], DELETE, DELETE, "one", "two")
    first = run(agent, "first")
    add(slot, "Lives in Oslo.")
    second = run(agent, "second")
    for paused in (first, second):
        resume(as_text(paused, agent), agent)
    assert ["Oslo" in prompt for prompt in prompts(agent)] == [False, True, False, True]


def test_a_run_that_fails_in_a_model_call_leaves_nothing_behind():
    agent = pausing([holding()], call("recall_notes"), ConnectionError("the model is gone"))
    with pytest.raises(ConnectionError):
        run(agent)
    assert list(_runs._paused) == []
