"""The agent loop of examples/plain_openai.py, with a local server in the place of OpenAI."""

import asyncio
import json

import pytest
from openai import AsyncOpenAI

from examples import plain_openai as example
from tests.extras.model_server import ModelServer, completion
from vectormem import SqliteMemory, blocking

KEY = "notes#user:ada"
TEA = '<memory name="notes">\n- The user likes tea. (id: %s)\n</memory>'


@pytest.fixture
def model():
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "memory.db")


def seed(db, text="The user likes tea."):
    with blocking(SqliteMemory(db)) as memory:
        return memory.add(KEY, text).id


def talk(model, db, *texts, user="ada"):
    """Return the replies and the messages of one conversation."""

    async def main():
        messages = []
        async with AsyncOpenAI(base_url=f"{model.url}/v1", api_key="sk-1") as client:
            slots = [example.notes(db)]
            return [await example.reply(client, "m", slots, messages, text, user) for text in texts], messages

    return asyncio.run(main())


def prompts(model):
    return [body["messages"][0] for body in model.bodies]


def test_a_run_recalls_calls_tools_and_answers(model, db):
    tea = seed(db)
    model.answers += [completion(None, ("t1", "remember_notes", '{"text": "Lives in Oslo."}')), completion("Noted.")]
    replies, messages = talk(model, db, "I moved to Oslo.")
    assert replies == ["Noted."]
    assert {path for path, _ in model.requests} == {"/v1/chat/completions"}
    assert prompts(model) == [{"role": "system", "content": f"{example.INSTRUCTIONS}\n\n{TEA % tea}"}] * 2
    offered = [tool["function"]["name"] for tool in model.bodies[0]["tools"]]
    assert offered == ["remember_notes", "recall_notes", "forget_notes"]
    assert model.bodies[0]["messages"][1:] == [{"role": "user", "content": "I moved to Oslo."}]
    asked, answered = model.bodies[1]["messages"][2:]
    assert asked["tool_calls"][0]["function"] == {"name": "remember_notes", "arguments": '{"text": "Lives in Oslo."}'}
    with blocking(SqliteMemory(db)) as memory:
        [oslo, _] = memory.list(KEY)
    assert oslo.text == "Lives in Oslo."
    assert (answered["role"], answered["tool_call_id"]) == ("tool", "t1")
    assert json.loads(answered["content"]) == {"remembered": oslo.id}
    assert "<memory" not in json.dumps(messages)


def test_the_next_message_recalls_anew_and_the_conversation_goes_on(model, db):
    model.answers += [completion(None, ("t1", "remember_notes", '{"text": "Lives in Oslo."}'))]
    model.answers += [completion("Noted."), completion("In Oslo.")]
    replies, _ = talk(model, db, "I moved to Oslo.", "Where do I live?")
    assert replies == ["Noted.", "In Oslo."]
    assert ["Lives in Oslo." in prompt["content"] for prompt in prompts(model)] == [False, False, True]
    assert [message["role"] for message in model.bodies[2]["messages"]] == [
        *("system", "user", "assistant", "tool", "assistant", "user"),
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("remember_notes", '{"text": ""}', "Error: "),
        ("recall_notes", '{"limit": 0}', "Error: "),
        ("remember_notes", '{"text": ', "Error: the arguments of remember_notes are not valid JSON"),
        ("no_such_tool", "{}", "Error: there is no memory tool 'no_such_tool'"),
    ],
)
def test_what_is_wrong_with_a_call_is_told_to_the_model(model, db, name, arguments, said):
    model.answers += [completion(None, ("t1", name, arguments)), completion("Sorry.")]
    assert talk(model, db, "hi")[0] == ["Sorry."]
    assert model.bodies[1]["messages"][-1]["content"].startswith(said)


def test_one_user_sees_nothing_of_another(model, db):
    seed(db)
    model.answers += [completion("Hello.")]
    talk(model, db, "hi", user="bob")
    assert prompts(model) == [{"role": "system", "content": example.INSTRUCTIONS}]


def test_the_command_line_takes_another_server(model, db, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    model.answers += [completion("Hello."), completion("Bye.")]
    asyncio.run(example.main(["--base-url", f"{model.url}/v1", "--db", db, "--model", "small", "hi", "bye"]))
    assert capsys.readouterr().out == "Hello.\nBye.\n"
    assert {body["model"] for body in model.bodies} == {"small"}


def test_a_model_that_never_stops_calling_tools_is_stopped(model, db):
    model.answers += [completion(None, ("t1", "recall_notes", "{}"))] * example.MOST_CALLS
    with pytest.raises(RuntimeError, match="still calls tools"):
        talk(model, db, "hi")
