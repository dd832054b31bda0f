"""Runs that pause for an approval and go on: the same block, nothing recalled again, no memory tools."""

import asyncio

import pytest
from pydantic_ai import Agent, AgentRunResultEvent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.conversation import ConversationTypeAdapter
from pydantic_ai.toolsets import FunctionToolset

from tests.extras.pydantic_ai.conftest import block, holding, slot_of, stored
from tests.extras.pydantic_ai.script import Script, call
from vectormem import MemoryInvalidError, StorageFailedError, blocking
from vectormem.adapters.pydantic_ai import AgentMemory
from vectormem.adapters.pydantic_ai_conversations import SqliteConversations

TEA = "The user likes tea."


def delete(path: str) -> str:
    return f"deleted {path}"


def pausing(script, *slots, memory=None, **options):
    toolset = FunctionToolset()
    toolset.add_function(delete, requires_approval=True)
    memory = memory or AgentMemory(slots, **options)
    return Agent(script, toolsets=[toolset], capabilities=[memory], output_type=[str, DeferredToolRequests])


async def go_on(agent, conversation, way="run", *, prompt=None, approved=True, **options):
    requests = conversation.deferred_tool_requests
    results = (
        requests.build_results(approve_all=True)
        if approved
        else requests.build_results(approvals={one.tool_call_id: False for one in requests.approvals})
    )
    options = {"conversation": conversation, "deferred_tool_results": results, **options}
    if way == "run":
        return await agent.run(prompt, **options)
    if way == "run_stream":
        async with agent.run_stream(prompt, **options) as stream:
            await stream.get_output()
            return stream
    async with agent.run_stream_events(prompt, **options) as events:
        found = [event async for event in events]
    return next(event.result for event in found if isinstance(event, AgentRunResultEvent))


@pytest.mark.parametrize("way", ["run", "run_stream", "run_stream_events"])
def test_a_run_that_goes_on_keeps_its_block_recalls_nothing_and_offers_no_memory_tools(provider, way):
    script = Script(call("delete", path="/a"), "Done.")
    agent = pausing(script, holding(provider, TEA, recall={"query": "last-input"}))
    paused = asyncio.run(agent.run("clean up my tea notes"))
    assert isinstance(paused.output, DeferredToolRequests)
    blocking(provider).add("notes#global", "Lives in Oslo.")
    queries = list(provider.queries)
    asyncio.run(go_on(agent, paused.conversation, way))
    assert provider.queries == queries == [("notes#global", "clean up my tea notes")]
    assert [request.instructions for request in script.requests] == [block(TEA)] * 2
    assert [request.tools for request in script.requests] == [["delete", "remember_notes", "recall_notes"], ["delete"]]
    assert script.requests[1].tool_returns == [("delete", "success", "deleted /a")]


def test_memory_tools_are_offered_again_in_the_next_run(provider):
    script = Script(call("delete", path="/a"), "Done.", "Hello.")
    agent = pausing(script, holding(provider, TEA))

    async def converse():
        paused = await agent.run("clean up")
        done = await go_on(agent, paused.conversation)
        await agent.run("hi", conversation=done.conversation)

    asyncio.run(converse())
    assert [sorted(request.tools) for request in script.requests[1:]] == [
        ["delete"],
        ["delete", "recall_notes", "remember_notes"],
    ]
    assert len(provider.queries) == 2


def test_a_run_may_pause_twice_and_refuse(provider):
    script = Script(call("delete", path="/a"), call("delete", path="/b"), "Done.")
    agent = pausing(script, holding(provider, TEA))

    async def converse():
        paused = await agent.run("clean up")
        again = await go_on(agent, paused.conversation)
        assert isinstance(again.output, DeferredToolRequests)
        return await go_on(agent, again.conversation, approved=False)

    assert asyncio.run(converse()).output == "Done."
    assert [request.instructions for request in script.requests] == [block(TEA)] * 3
    assert [request.tools for request in script.requests[1:]] == [["delete"]] * 2
    assert len(provider.queries) == 1


def test_other_calls_of_the_turn_are_made_before_the_run_pauses(provider):
    script = Script([*call("delete", path="/a"), *call("remember_notes", text="x")], "Done.")
    agent = pausing(script, slot_of(provider))
    paused = asyncio.run(agent.run("clean up"))
    assert stored(provider) == ["x"]
    assert asyncio.run(go_on(agent, paused.conversation)).output == "Done."
    assert stored(provider) == ["x"]


def test_the_snapshot_is_in_nothing_that_is_stored_of_the_conversation(provider):
    agent = pausing(Script(call("delete", path="/a")), holding(provider, TEA))
    paused = asyncio.run(agent.run("clean up"))
    assert "tea" not in ConversationTypeAdapter.dump_json(paused.conversation).decode()


def test_a_prompt_beside_the_approval_changes_nothing(provider):
    script = Script(call("delete", path="/a"), "Done.")
    agent = pausing(script, holding(provider, TEA))

    async def converse():
        paused = await agent.run("clean up")
        await go_on(agent, paused.conversation, prompt="and hurry")

    asyncio.run(converse())
    assert script.requests[1].instructions == block(TEA)
    assert script.requests[1].tools == ["delete"]
    assert len(provider.queries) == 1


def test_an_agent_made_anew_in_another_process_finds_the_snapshot_in_the_file(provider, tmp_path):
    script = Script(call("delete", path="/a"), "Done.")
    slot = holding(provider, TEA)

    async def first_process():
        async with SqliteConversations(tmp_path / "agent.db") as conversations:
            await conversations.save(await pausing(script, slot, pauses=conversations).run("hi", conversation_id="c"))

    async def second_process():
        async with SqliteConversations(tmp_path / "agent.db") as conversations:
            conversation = await conversations.load("c")
            run_id = conversation.messages[-1].run_id
            assert await conversations.find_pause(run_id) is not None
            await go_on(pausing(script, slot, pauses=conversations), conversation)
            assert await conversations.find_pause(run_id) is None

    asyncio.run(first_process())
    blocking(provider).add("notes#global", "Lives in Oslo.")
    asyncio.run(second_process())
    assert [request.instructions for request in script.requests] == [block(TEA)] * 2
    assert script.requests[1].tools == ["delete"]
    assert len(provider.queries) == 1


def test_without_the_snapshot_the_message_that_began_the_run_is_looked_for_and_no_tools_are_offered(provider):
    script = Script(call("delete", path="/a"), "Done.")
    slot = holding(provider, TEA, recall={"query": "last-input"})
    paused = asyncio.run(pausing(script, slot).run("clean up my tea notes"))
    asyncio.run(go_on(pausing(script, slot), paused.conversation))
    assert provider.queries == [("notes#global", "clean up my tea notes")] * 2
    assert script.requests[1].tools == ["delete"]


def test_a_run_is_not_gone_on_with_under_another_scope_key(provider):
    script = Script(call("delete", path="/a"), "Done.")
    slot = holding(provider, TEA, scope=lambda context: context.principal, key="notes#ada")
    agent = pausing(script, slot)
    paused = asyncio.run(agent.run("clean up", deps="ada"))
    with pytest.raises(MemoryInvalidError, match="'notes' under another scope key"):
        asyncio.run(go_on(agent, paused.conversation, deps="eve"))
    assert len(script.requests) == 1


def test_a_resumed_run_that_fails_can_be_resumed_again(provider):
    script = Script(call("delete", path="/a"))
    agent = pausing(script, holding(provider, TEA))
    paused = asyncio.run(agent.run("clean up"))
    with pytest.raises(IndexError):
        asyncio.run(go_on(agent, paused.conversation))
    script.turns.extend(["", "Done."])
    asyncio.run(go_on(agent, paused.conversation))
    assert script.requests[-1].instructions == block(TEA)
    assert len(provider.queries) == 1


def test_pauses_that_cannot_be_kept_cost_a_warning_and_another_recall(provider, caplog):
    class Broken:
        async def keep_pause(self, conversation_id, run_id, snapshot):
            raise StorageFailedError("disk full")

        async def find_pause(self, run_id):
            raise StorageFailedError("disk gone")

        async def drop_pause(self, run_id):
            raise StorageFailedError("disk gone")

    script = Script(call("delete", path="/a"), "Done.")
    agent = pausing(script, holding(provider, TEA), pauses=Broken())
    paused = asyncio.run(agent.run("clean up"))
    assert asyncio.run(go_on(agent, paused.conversation)).output == "Done."
    assert script.requests[1].instructions == block(TEA)
    assert [record.getMessage()[:24] for record in caplog.records if record.name == "vectormem"] == [
        "paused runs: disk full; ",
        "paused runs: disk gone; ",
        "paused runs: disk gone; ",
    ]


def test_a_memory_tool_whose_own_call_waited_is_called_and_not_offered(provider):
    class Careful(AgentMemory):
        def get_toolset(self):
            return super().get_toolset().approval_required(lambda ctx, tool, args: tool.name.startswith("forget_"))

    slot = holding(provider, TEA, expose={"forget": True})
    (item,) = blocking(provider).list("notes#global")
    script = Script(call("forget_notes", id=item.id), "Gone.")
    agent = pausing(script, memory=Careful([slot]))
    paused = asyncio.run(agent.run("forget the tea"))
    assert stored(provider) == [TEA]
    asyncio.run(go_on(agent, paused.conversation))
    assert stored(provider) == []
    assert script.requests[1].tools == ["delete"]
    assert script.requests[1].tool_returns == [("forget_notes", "success", {"forgotten": item.id})]


def test_a_memory_tool_that_is_called_though_it_is_not_offered_is_an_error_for_the_model(provider):
    script = Script(call("delete", path="/a"), call("remember_notes", text="x"), "Sorry.")
    agent = pausing(script, slot_of(provider))
    paused = asyncio.run(agent.run("clean up"))
    assert asyncio.run(go_on(agent, paused.conversation)).output == "Sorry."
    assert stored(provider) == []


def test_a_run_may_go_on_from_its_messages_alone(provider):
    script = Script(call("delete", path="/a"), "Done.")
    agent = pausing(script, holding(provider, TEA))
    paused = asyncio.run(agent.run("clean up"))
    (waiting,) = paused.output.approvals
    results = DeferredToolResults(approvals={waiting.tool_call_id: True})
    asyncio.run(agent.run(message_history=paused.all_messages(), deferred_tool_results=results))
    assert script.requests[1].tools == ["delete"]
    assert script.requests[1].instructions == block(TEA)
