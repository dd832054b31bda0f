"""Runs that pause for an approval: the same block afterwards, one recall, and no memory tools for the rest of it."""

import asyncio
import json

import pytest
from agents import RunConfig, Runner, RunState, SQLiteSession

from tests.extras.openai_agents.play import (
    SLOT_TOOLS,
    TEA,
    Counting,
    add,
    agent_of,
    call,
    define,
    delete,
    holding,
    offered,
    outputs,
    prompts,
    remembering,
    run,
    texts_in,
)
from vectormem import MemoryContext, SqliteStore
from vectormem.adapters import openai_runs
from vectormem.adapters.openai_agents import VectormemSession, insert_memory, with_memory

DELETE = call("delete", path="/a", _id="d1")
BLOCK = f"Be brief.\n\n{TEA}"


def pausing(slots, *steps, **options):
    return remembering(slots, *steps, tools=[delete], **options)


def as_text(result, agent, **options):
    """Return the state of a paused run after a trip through its text form."""
    state = result.to_state()
    return asyncio.run(RunState.from_string(agent, state.to_string(), **options))


def in_memory(result, agent, **options):
    return result.to_state()


def resume(state, agent, *, approve=True, **options):
    for item in state.get_interruptions():
        state.approve(item) if approve else state.reject(item)
    return run(agent, state, **options)


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
    from vectormem import MemoryTool

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
    assert len(openai_runs._paused) == 1
    resume(as_text(paused, agent), agent)
    run(agent)
    assert list(openai_runs._paused) == []


def test_what_is_kept_of_paused_runs_is_bounded(monkeypatch):
    from collections import deque

    monkeypatch.setattr(openai_runs, "_paused", deque(maxlen=2))
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
    openai_runs._paused.clear()
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


def test_a_run_is_resumed_in_its_session():
    slot = holding(scope="session", context=MemoryContext(session_id="s"))
    agent = pausing([slot], DELETE, "Done.", "again")
    with SqliteStore(":memory:") as store:
        session = VectormemSession("s", store)
        paused = run(agent, "first", session=session)
        add(slot, "Lives in Oslo.", context=MemoryContext(session_id="s"))
        resume(as_text(paused, agent), agent, session=session)
        run(agent, "second", session=session)
        stored = asyncio.run(session.get_items())
    assert prompts(agent)[:2] == [BLOCK] * 2
    assert "- Lives in Oslo." in prompts(agent)[2]
    assert [item["content"] for item in stored if item.get("role") == "user"] == ["first", "second"]
    assert "<memory" not in repr(stored)


def test_a_run_with_the_sdks_session_is_resumed():
    session = SQLiteSession("s")
    agent = pausing([holding()], DELETE, "Done.")
    resume(as_text(run(agent, session=session), agent), agent, session=session)
    session.close()
    assert prompts(agent) == [BLOCK] * 2


def test_a_run_that_streams_is_resumed():
    slot = holding()
    agent = pausing([slot], DELETE, "Done.")

    async def main():
        result = Runner.run_streamed(agent, "hi")
        async for _ in result.stream_events():
            pass
        state = await RunState.from_string(agent, result.to_state().to_string())
        add_later = slot.provider.add("notes#global", "Lives in Oslo.")
        await add_later
        state.approve(state.get_interruptions()[0])
        resumed = Runner.run_streamed(agent, state)
        async for _ in resumed.stream_events():
            pass
        return resumed.final_output

    assert asyncio.run(main()) == "Done."
    assert prompts(agent) == [BLOCK] * 2
    assert offered(agent)[1] == ["delete"]


def test_the_target_of_a_hand_off_is_resumed_with_the_leads_block():
    slot = holding()
    expert = agent_of(DELETE, "Done.", name="expert", tools=[delete])
    lead = remembering([slot], call("transfer_to_expert", _id="h1"), handoffs=[expert])
    paused = run(lead)
    add(slot, "Lives in Oslo.")
    final = resume(as_text(paused, lead), lead)
    assert final.final_output == "Done."
    assert prompts(expert) == [BLOCK] * 2
    assert offered(expert) == [["delete", *SLOT_TOOLS], ["delete"]]


def test_an_agent_that_is_a_tool_pauses_the_run_and_both_keep_their_blocks():
    own, lead_slot = holding("known to the expert", name="own"), holding()
    expert = pausing([own], DELETE, "yes", name="expert")
    ask = call("ask_expert", input="do it", _id="a1")
    lead = remembering([lead_slot], ask, "Done.", tools=[expert.as_tool("ask_expert", "Ask.")])
    paused = run(lead)
    add(own, "new")
    add(lead_slot, "new")
    final = resume(as_text(paused, lead), lead)
    assert final.final_output == "Done."
    assert prompts(lead) == [BLOCK] * 2
    assert offered(lead) == [["ask_expert", *SLOT_TOOLS], ["ask_expert"]]
    assert prompts(expert) == ['Be brief.\n\n<memory name="own">\n- known to the expert\n</memory>'] * 2
    assert offered(expert) == [["delete", "remember_own", "recall_own"], ["delete"]]


def test_runs_that_are_resumed_at_the_same_time_keep_each_its_own():
    slot = define(scope=lambda context: f"user:{context.metadata['user']}")
    users = [f"u{n}" for n in range(10)]
    for user in users:
        add(slot, f"I am {user}.", context=MemoryContext(metadata={"user": user}))
    agents = {user: pausing([slot], call("delete", path="/a", _id=f"d-{user}"), "Done.") for user in users}
    states = {user: as_text(run(agents[user], context={"user": user}), agents[user]) for user in users}

    async def main():
        for state in states.values():
            state.approve(state.get_interruptions()[0])
        await asyncio.gather(*(Runner.run(agents[user], states[user]) for user in users))

    asyncio.run(main())
    for user in users:
        assert prompts(agents[user]) == [f'Be brief.\n\n<memory name="notes">\n- I am {user}.\n</memory>'] * 2


def test_a_context_function_is_not_asked_before_the_run_goes_on():
    """A state that is read has the context it was written with, which may be none."""
    slot = define(scope=lambda context: f"user:{context.principal}")
    add(slot, "The user likes tea.", context=MemoryContext(principal="ada"))

    class Context:
        user = "ada"

    agent = pausing(
        [slot], DELETE, "Done.", memory={"context": lambda wrapper: MemoryContext(principal=wrapper.context.user)}
    )
    paused = run(agent, context=Context())
    text = paused.to_state().to_string(context_serializer=lambda context: {})
    state = asyncio.run(RunState.from_string(agent, text, context_deserializer=lambda data: None))
    resume(state, agent, context=Context())
    assert prompts(agent) == [BLOCK] * 2


def test_an_approval_that_holds_for_all_later_calls_is_taken_too():
    slot = holding()
    agent = pausing([slot], DELETE, call("delete", path="/b", _id="d2"), "Done.")
    state = as_text(run(agent), agent)
    state.approve(state.get_interruptions()[0], always_approve=True)
    assert run(agent, state).final_output == "Done."
    assert prompts(agent) == [BLOCK] * 3
    assert offered(agent)[1:] == [["delete"]] * 2


def test_a_memory_that_fails_meanwhile_changes_nothing():
    slot = holding()
    agent = pausing([slot], DELETE, "Done.")
    paused = run(agent)
    slot.provider.failing = OSError("disk gone")
    resume(as_text(paused, agent), agent)
    assert prompts(agent) == [BLOCK] * 2


def test_a_block_in_the_input_is_resumed_too():
    slot = holding()
    agent = with_memory(agent_of(DELETE, "Done.", tools=[delete]), [slot], placement="user")
    config = RunConfig(call_model_input_filter=insert_memory)
    paused = run(agent, run_config=config)
    add(slot, "Lives in Oslo.")
    resume(as_text(paused, agent), agent, run_config=config)
    shown = [one.input[0]["content"] for one in agent.model.calls]
    assert shown[0] == shown[1]
    assert shown[0].endswith(TEA)


def test_the_provider_is_asked_once_per_slot():
    providers = [Counting(), Counting()]
    slots = [define(name, provider=provider) for name, provider in zip(("a", "b"), providers, strict=True)]
    agent = pausing(slots, DELETE, "Done.")
    resume(as_text(run(agent), agent), agent)
    assert [len(provider.lists) for provider in providers] == [1, 1]
