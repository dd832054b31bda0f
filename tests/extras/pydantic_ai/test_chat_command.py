"""`vectormem chat`, as a process of its own, in a pipe and in a terminal."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.conftest import command, in_process, in_terminal
from vectormem import ChatStorage, SqliteVectorMemory, blocking
from vectormem.testing import HashEmbedder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VECTORMEM_DB", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def chat(*lines, options=(), model="test"):
    given = "".join(f"{line}\n" for line in lines).encode()
    call = command("chat", "--model", model, *options)
    return subprocess.run(call, input=given, capture_output=True, timeout=120, check=False)


def stored(key="memory#global"):
    memory = blocking(SqliteVectorMemory("vectormem.db", embedder=HashEmbedder()))
    texts = [item.text for item in memory.list(key)]
    memory.close()
    return texts


def test_what_is_told_is_remembered_and_recalled_in_another_session():
    told = chat("I like green tea.", options=["--session", "monday"])
    assert (told.returncode, told.stdout) == (0, b"I will remember that.\n")
    assert told.stderr == b"remembered: I like green tea.\n"
    assert stored() == ["I like green tea."]
    asked = chat("Which tea do I like?", options=["--session", "friday"])
    assert (asked.returncode, asked.stdout) == (0, b"This is what I remember: I like green tea.\n")
    assert asked.stderr == b"recalled: I like green tea.\n"


def test_what_was_added_before_is_recalled_and_can_be_forgotten():
    in_process("add", "Sam lives in Oslo.")
    done = chat("Where does Sam live?", "Forget that Sam lives in Oslo.", "Where does Sam live?")
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[:2] == [
        "This is what I remember: Sam lives in Oslo.",
        "It is forgotten.",
    ]
    assert stored() == []


def test_a_session_goes_on_in_the_next_process():
    options = ["--session", "s1", "--json"]
    chat("Hello!", options=options)
    chat("Thanks!", options=options)
    code = (
        "import asyncio\n"
        "from vectormem.adapters.pydantic_ai import SqliteConversations\n"
        "print(len(asyncio.run(SqliteConversations('vectormem.db').load('s1')).messages))"
    )
    assert in_process(code=code).stdout == b"4\n"


def test_turns_are_recorded_and_found_in_another_session():
    chat("Hello!", "thanks", options=["--session", "s1", "--user", "ada"])
    chats = blocking(ChatStorage("vectormem.db", embedder=HashEmbedder(), scope_key="user:ada"))
    assert [one.role for one in chats.messages("s1")] == ["user", "assistant"] * 2
    chats.save_message("s0", "user", "The spare key is under the blue pot")
    chats.close()
    found = chat("Where is the spare key?", options=["--session", "s2", "--user", "ada"])
    assert found.stdout == b"You talked about it before: The spare key is under the blue pot\n"
    assert found.stderr == b"recalled: The spare key is under the blue pot\n"


def test_one_user_never_sees_what_another_said():
    chat("I like green tea.", options=["--user", "ada"])
    asked = chat("Which tea do I like?", options=["--user", "eve"])
    assert asked.stdout == b"I do not know that yet. Tell me, and I will remember it.\n"
    assert (stored("memory#user:ada"), stored("memory#user:eve")) == (["I like green tea."], [])


def test_json_is_one_document_of_the_turns():
    done = chat("I like green tea.", "", "Which tea do I like?", options=["--session", "s1", "--json"])
    assert json.loads(done.stdout) == {
        "session": "s1",
        "user": None,
        "turns": [
            {
                "message": "I like green tea.",
                "recalled": [],
                "remembered": ["I like green tea."],
                "answer": "I will remember that.",
            },
            {
                "message": "Which tea do I like?",
                "recalled": ["I like green tea."],
                "remembered": [],
                "answer": "This is what I remember: I like green tea.",
            },
        ],
    }


def test_the_slots_of_a_folder_take_the_place_of_the_default(folder):
    (folder / "slots").mkdir()
    (folder / "slots" / "facts.py").write_text(
        "from vectormem import FileMemory\n"
        "slot = {'scope': lambda context: f'user:{context.principal}', 'provider': FileMemory('facts')}\n"
    )
    done = chat("I like green tea.", options=["--slots", "slots", "--user", "ada"])
    assert done.stdout == b"I will remember that.\n"
    assert "I like green tea." in (folder / "facts" / "facts%23user%3aada.json").read_text()


def test_an_input_of_blank_lines_is_no_message():
    done = chat("", "   ")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("model", "reason"),
    [("nonsense", b"'nonsense' cannot be used"), ("openai:gpt-5", b"'openai:gpt-5' cannot be used")],
)
def test_a_model_that_cannot_be_used_says_why(model, reason):
    done = chat("hi", model=model)
    assert (done.returncode, done.stdout) == (1, b"")
    assert reason in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_model_that_fails_ends_a_piped_chat_with_status_1():
    env = {**os.environ, "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    call = command("chat", "--model", "openai-chat:gpt-5")
    done = subprocess.run(call, input=b"hi\nthere\n", capture_output=True, timeout=120, check=False, env=env)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"error: ") == 1
    assert b"Traceback" not in done.stderr


def test_bytes_that_are_no_text_are_an_error():
    call = command("chat", "--model", "test")
    done = subprocess.run(call, input=b"\xff\xfe\n", capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"not UTF-8" in done.stderr


def test_the_end_of_file_ends_a_typed_chat_quietly():
    status, shown = in_terminal("chat", "--model", "test", typed=b"I like tea.\n\x04")
    assert status == 0
    assert "remembered: I like tea." in shown
    assert "I will remember that." in shown
    assert "Traceback" not in shown


def test_an_interrupt_at_the_prompt_ends_a_typed_chat_quietly():
    status, shown = in_terminal("chat", "--model", "test", typed=b"\x03")
    assert "Traceback" not in shown
    assert status == 0


def test_an_interrupt_while_the_model_answers_ends_the_chat_without_its_turn(folder):
    code = (
        "import os, signal\n"
        "import vectormem.cli.chat_model as models\n"
        "def interrupted(said, info): os.kill(os.getpid(), signal.SIGINT); return 'never mind'\n"
        "models._plan = interrupted\n"
        "import sys; sys.argv = ['vectormem', 'chat', '--model', 'test']\n"
        "from vectormem.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"hi\n", capture_output=True, timeout=60, check=False)
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr
    chats = blocking(ChatStorage("vectormem.db", embedder=HashEmbedder()))
    assert chats.messages("main") == []
    chats.close()


HOSTILE = "a tea\x1b[2J\x9b31m\rb\x07\u202ec\u200bd"


def test_hostile_text_is_harmless_on_a_terminal():
    memory = blocking(SqliteVectorMemory("vectormem.db", embedder=HashEmbedder()))
    memory.add("memory#global", HOSTILE)
    memory.close()
    status, shown = in_terminal("chat", "--model", "test", typed=b"what tea?\n\x04")
    assert status == 0
    assert "recalled: a tea" in shown
    assert "This is what I remember: a tea" in shown
    assert not any(mark in shown for mark in ("\x1b[2J", "\x9b", "\x07", "\u202e", "\u200b"))


def test_a_reader_that_leaves_early_ends_the_chat_quietly():
    process = subprocess.Popen(
        command("chat", "--model", "test"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.stdout.close()
    with process.stdin as given:
        given.write(b"hi\nhello\n")
    assert process.wait(timeout=60) in (0, 1)
    assert process.returncode != -signal.SIGSEGV
