"""ScriptedModel says what its script says and keeps what it was asked."""

import asyncio

import pytest

from vectormem import InMemoryMemory, MemoryInvalidError, MemoryRun, define_memory
from vectormem.testing import ScriptedModel


def respond(model, messages, tools=()):
    return asyncio.run(model.respond(messages, tools))


def user(text):
    return {"role": "user", "content": text}


def test_turns_come_in_order():
    model = ScriptedModel(["one", {"text": "two", "tool_calls": [{"name": "recall_notes", "args": {"limit": 3}}]}, {}])
    turns = [respond(model, [user("hi")]) for _ in range(3)]
    assert [(turn.text, [call.model_dump() for call in turn.tool_calls]) for turn in turns] == [
        ("one", []),
        ("two", [{"name": "recall_notes", "args": {"limit": 3}}]),
        ("", []),
    ]


def test_requests_are_recorded_with_messages_tools_and_system():
    slot = define_memory(name="notes", scope="global", provider=InMemoryMemory(), expose={"recall": False})
    tool = MemoryRun([slot]).tools[0]
    model = ScriptedModel(["one", "two"])
    respond(model, [{"role": "system", "content": "Be brief."}, user("hi")], [tool])
    respond(model, [user("hello")])
    shown = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    assert model.calls == [
        {"messages": [{"role": "system", "content": "Be brief."}, user("hi")], "tools": [shown]},
        {"messages": [user("hello")], "tools": []},
    ]
    assert [call.system for call in model.calls] == ["Be brief.", None]
    assert (model.calls[0].messages[1], model.calls[0].tools) == (user("hi"), [shown])


def test_a_recorded_request_does_not_change_with_the_messages():
    model, messages = ScriptedModel(["one"]), [user("hi")]
    respond(model, messages)
    messages[0]["content"] = "changed"
    messages.append(user("more"))
    assert model.calls[0].messages == [user("hi")]


def test_a_request_beyond_the_script_is_an_error_that_tells_the_number_and_the_last_message():
    model = ScriptedModel(["one"])
    respond(model, [user("hi")])
    with pytest.raises(AssertionError, match=r"1 turns.*request 2.*'again'"):
        respond(model, [user("again")])


@pytest.mark.parametrize(
    "turn",
    [
        None,
        7,
        {"content": "x"},
        {"text": 7},
        {"tool_calls": "x"},
        {"tool_calls": [{"args": {}}]},
        {"tool_calls": [{"name": "x", "arguments": {}}]},
    ],
)
def test_what_is_no_turn_is_refused(turn):
    with pytest.raises(MemoryInvalidError, match="turn"):
        ScriptedModel([turn])
