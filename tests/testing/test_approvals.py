"""Runs of ScriptedAgent that pause for an approval and go on."""

import asyncio
import json

import pytest

from tests.providers.stand_ins import MinimalProvider
from tests.testing.play import (
    BLOCK,
    agent_with,
    calling,
    define,
    holding,
    offered,
    send,
    systems,
    tool,
    tool_messages,
)
from vectormem import MemoryInvalidError, blocking


async def delete(arguments):
    return {"deleted": arguments["path"]}


def pausing(slot, turns):
    return agent_with(slot, turns=turns, tools=[tool("delete", delete)], needs_approval={"delete"})


def test_a_call_that_needs_approval_pauses_the_run_with_its_memory_as_json():
    agent = pausing(holding(), [{"text": "May I?", **calling("delete", path="/a")}, "Done."])
    result = send(agent)
    assert result.text == "May I?"
    assert json.loads(json.dumps(result.paused)) == result.paused
    assert result.paused["messages"][0] == {"role": "system", "content": BLOCK}
    assert len(agent.model.calls) == 1


def test_a_resumed_run_keeps_the_block_recalls_nothing_and_offers_no_memory_tools():
    provider = MinimalProvider()
    slot = holding(provider=provider)
    agent = pausing(slot, [calling("delete", path="/a"), "Done."])
    paused = json.loads(json.dumps(send(agent).paused))
    blocking(provider).add("notes#global", "Lives in Oslo.")
    provider.calls.clear()
    result = asyncio.run(agent.resume(paused))
    assert result.text == "Done."
    assert provider.calls == []
    assert systems(agent) == [BLOCK, BLOCK]
    assert [offered(call) for call in agent.model.calls] == [["remember_notes", "recall_notes", "delete"], ["delete"]]
    assert json.loads(tool_messages(result)[0]["content"]) == {"deleted": "/a"}


def test_memory_tools_work_again_in_the_run_after_a_resumed_one():
    agent = pausing(holding(), [calling("delete", path="/a"), "Done.", "Hello."])
    asyncio.run(agent.resume(send(agent).paused))
    send(agent)
    assert offered(agent.model.calls[2]) == ["remember_notes", "recall_notes", "delete"]


def test_a_memory_tool_that_is_called_in_a_resumed_run_is_an_error_for_the_model():
    slot = holding()
    agent = pausing(slot, [calling("delete", path="/a"), calling("remember_notes", text="x"), "Sorry."])
    result = asyncio.run(agent.resume(send(agent).paused))
    assert tool_messages(result)[1]["is_error"] is True
    assert [item.text for item in blocking(slot.provider).list("notes#global")] == ["The user likes tea."]


def test_a_call_that_is_not_approved_is_not_made():
    made = []

    async def record(arguments):
        made.append(arguments)
        return {}

    agent = agent_with(
        define(),
        turns=[calling("delete", path="/a"), "All right."],
        tools=[tool("delete", record)],
        needs_approval={"delete"},
    )
    result = asyncio.run(agent.resume(send(agent).paused, approved=False))
    assert made == []
    assert tool_messages(result)[0]["content"] == "the call was not approved"
    assert result.text == "All right."


def test_other_calls_of_the_turn_are_made_before_it_pauses():
    turn = {
        "tool_calls": [{"name": "delete", "args": {"path": "/a"}}, {"name": "remember_notes", "args": {"text": "x"}}]
    }
    slot = define()
    agent = pausing(slot, [turn, "Done."])
    paused = send(agent).paused
    assert [item.text for item in blocking(slot.provider).list("notes#global")] == ["x"]
    assert [call["name"] for call in paused["pending"]] == ["delete"]
    assert asyncio.run(agent.resume(paused)).text == "Done."


def test_a_session_is_resumed_with_its_transcript():
    agent = pausing(define(scope="session"), ["one", calling("delete", path="/a"), "Done."])
    session = agent.session("s1")
    asyncio.run(session.send("first"))
    paused = asyncio.run(session.send("second")).paused
    asyncio.run(session.resume(paused))
    assert [message["role"] for message in session.messages] == [
        *("user", "assistant"),
        *("user", "assistant", "tool", "assistant"),
    ]
    assert session.messages[-1]["content"] == "Done."


def test_a_run_is_not_resumed_under_another_scope_key():
    slot = define(scope="session")
    blocking(slot.provider).add("notes#session:s1", "The user likes tea.")
    agent = pausing(slot, [calling("delete", path="/a")])
    paused = send(agent, session_id="s1").paused
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        asyncio.run(agent.resume(paused, session_id="s2"))
