"""Runs that pause in sessions, streams, hand-offs and agents that are tools."""

import asyncio

from agents import Agent, RunConfig, Runner, RunState, SQLiteSession, function_tool

from tests.extras.openai_agents.pauses import BLOCK, DELETE, as_text, pausing, resume
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
    prompts,
    remembering,
    run,
    script,
)
from vectormem import MemoryContext, SqliteStore
from vectormem.adapters.openai_agents import VectormemSession, insert_memory, with_memory


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


def test_a_memory_context_that_is_written_down_with_the_state_is_read_again():
    slot, ada = define(scope=lambda context: f"user:{context.principal}"), MemoryContext(principal="ada")
    add(slot, "The user likes tea.", context=ada)
    agent = pausing([slot], DELETE, "Done.")
    paused = run(agent, context=ada)
    add(slot, "Lives in Oslo.", context=ada)
    resume(as_text(paused, agent), agent)
    assert prompts(agent) == [BLOCK] * 2


def test_experts_that_are_resumed_at_the_same_time_are_both_resumed():
    """Their runs share the lead's usage, and one is told of a start while the other still lists its tools."""
    facts = holding(name="facts")

    def slow(name, seconds):
        async def listed(context, agent):
            await asyncio.sleep(seconds)
            return True

        return function_tool(lambda: name, name_override=name, is_enabled=listed)

    def expert(name, seconds):
        steps = script([call("delete", _id=name, path="/a")], f"{name} done")
        return with_memory(Agent(name, model=steps, tools=[delete, slow(f"slow_{name}", seconds)]), [facts])

    first, second = expert("one", 0.02), expert("two", 0.05)
    asked = [call("ask_one", _id="x1", input="q"), call("ask_two", _id="x2", input="q")]
    experts = [first.as_tool("ask_one", "Ask one."), second.as_tool("ask_two", "Ask two.")]
    lead = with_memory(Agent("lead", model=script(asked, "done"), tools=experts), [holding()])

    async def main():
        state = (await Runner.run(lead, "hi")).to_state()
        for one in state.get_interruptions():
            state.approve(one)
        return await Runner.run(lead, state)

    assert asyncio.run(main()).final_output == "done"
    assert [offered(one)[1] for one in (first, second)] == [["delete", "slow_one"], ["delete", "slow_two"]]
    assert len(facts.provider.lists) == 2
