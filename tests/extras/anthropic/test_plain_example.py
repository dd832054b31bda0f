"""The agent loop of examples/plain_anthropic.py, with a local server in the place of Anthropic's."""

import asyncio
import json

import pytest
from anthropic import AsyncAnthropic

from examples import plain_anthropic as example
from tests.extras.model_server import message
from vectormem import SqliteMemory, blocking

KEY = "notes#user:ada"


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "memory.db")


def talk(model, db, *texts, user="ada"):
    """Return the replies and the messages of one conversation."""

    async def main():
        messages = []
        async with AsyncAnthropic(base_url=model.url, api_key="sk-1") as client:
            slots = [example.notes(db)]
            return [await example.reply(client, "m", slots, messages, text, user) for text in texts], messages

    return asyncio.run(main())


def systems(model):
    return [body["system"] for body in model.bodies]


def test_a_run_recalls_calls_tools_and_answers(model, db):
    with blocking(SqliteMemory(db)) as memory:
        tea = memory.add(KEY, "The user likes tea.").id
    model.answers += [message("Wait.", ("t1", "remember_notes", {"text": "Lives in Oslo."})), message("Noted.")]
    replies, messages = talk(model, db, "I moved to Oslo.")
    assert replies == ["Noted."]
    assert {path for path, _ in model.requests} == {"/v1/messages"}
    block = f'<memory name="notes">\n- The user likes tea. (id: {tea})\n</memory>'
    assert systems(model) == [f"{example.INSTRUCTIONS}\n\n{block}"] * 2
    tools = model.bodies[0]["tools"]
    assert [tool["name"] for tool in tools] == ["remember_notes", "recall_notes", "forget_notes"]
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in tools)
    assert model.bodies[0]["messages"] == [{"role": "user", "content": "I moved to Oslo."}]
    _, asked, answered = model.bodies[1]["messages"]
    assert [block["type"] for block in asked["content"]] == ["text", "tool_use"]
    with blocking(SqliteMemory(db)) as memory:
        [oslo, _] = memory.list(KEY)
    [result] = answered["content"]
    assert (answered["role"], result["type"], result["tool_use_id"]) == ("user", "tool_result", "t1")
    assert json.loads(result["content"]) == {"remembered": oslo.id}
    assert oslo.text == "Lives in Oslo."
    assert "<memory" not in json.dumps(messages)


def test_the_next_message_recalls_anew_and_the_conversation_goes_on(model, db):
    model.answers += [message(None, ("t1", "remember_notes", {"text": "Lives in Oslo."})), message("Noted.")]
    model.answers += [message("In Oslo.")]
    assert talk(model, db, "I moved to Oslo.", "Where do I live?")[0] == ["Noted.", "In Oslo."]
    assert ["Lives in Oslo." in system for system in systems(model)] == [False, False, True]
    assert [one["role"] for one in model.bodies[2]["messages"]] == ["user", "assistant"] * 2 + ["user"]


@pytest.mark.parametrize(
    ("name", "input", "said"),
    [
        ("remember_notes", {"text": ""}, "text"),
        ("recall_notes", {"limit": 0}, "limit"),
        ("no_such_tool", {}, "there is no memory tool 'no_such_tool'"),
    ],
)
def test_what_is_wrong_with_a_call_is_an_error_result(model, db, name, input, said):
    model.answers += [message(None, ("t1", name, input)), message("Sorry.")]
    assert talk(model, db, "hi")[0] == ["Sorry."]
    [result] = model.bodies[1]["messages"][-1]["content"]
    assert result["is_error"] is True
    assert said in result["content"]


def test_one_user_sees_nothing_of_another(model, db):
    with blocking(SqliteMemory(db)) as memory:
        memory.add(KEY, "The user likes tea.")
    model.answers += [message("Hello.")]
    talk(model, db, "hi", user="bob")
    assert systems(model) == [example.INSTRUCTIONS]


def test_the_command_line_takes_another_server(model, db, monkeypatch, capsys):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-1")
    model.answers += [message("Hello."), message("Bye.")]
    asyncio.run(example.main(["--base-url", model.url, "--db", db, "--model", "small", "hi", "bye"]))
    assert capsys.readouterr().out == "Hello.\nBye.\n"
    assert {body["model"] for body in model.bodies} == {"small"}
