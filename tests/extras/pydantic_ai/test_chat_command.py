"""`vectormem chat`: what it answers, shows and keeps, in this process, in another one, and in a terminal."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from pydantic_ai.models import infer_model
from typer.testing import CliRunner

from tests.cli.conftest import command
from vectormem import ChatStorage, SqliteVectorMemory, blocking
from vectormem.adapters.pydantic_ai_conversations import SqliteConversations
from vectormem.cli.app import app
from vectormem.testing import HashEmbedder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VECTORMEM_DB", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def chat(*lines, options=(), model="test"):
    given = "".join(f"{line}\n" for line in lines)
    result = CliRunner().invoke(app, ["chat", "--model", model, *options], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def in_process(given, *, code=None):
    call = [sys.executable, "-c", code] if code else command("chat", "--model", "test")
    return subprocess.run(call, input=given, capture_output=True, timeout=120, check=False)


def in_terminal(*steps):
    """Chat in a terminal: at each prompt a step is typed (bytes) or sent (a signal)."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    terminal, side = pty.openpty()
    with subprocess.Popen(command("chat", "--model", "test"), stdin=side, stdout=side, stderr=side) as process:
        os.close(side)
        guard = threading.Timer(100, process.kill)
        guard.start()
        shown, waiting = b"", list(steps)
        while chunk := _read(terminal):
            shown += chunk
            if waiting and shown.count(b"> ") > len(steps) - len(waiting):
                step = waiting.pop(0)
                if step is signal.SIGINT:
                    process.send_signal(step)
                os.write(terminal, b"\n" if step is signal.SIGINT else step)  # a key wakes who has missed the signal
        guard.cancel()
    os.close(terminal)
    return process.returncode, shown.decode(errors="replace")


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


def stored(key="memory#global"):
    memory = blocking(SqliteVectorMemory("vectormem.db", embedder=HashEmbedder()))
    texts = [item.text for item in memory.list(key)]
    memory.close()
    return texts


def test_what_is_told_is_remembered_and_recalled_in_another_session():
    told = chat("I like green tea.", options=["--session", "monday"])
    assert (told.exit_code, told.stdout) == (0, "I will remember that.\n")
    assert told.stderr == "remembered: I like green tea.\n"
    assert stored() == ["I like green tea."]
    asked = chat("Which tea do I like?", options=["--session", "friday"])
    assert (asked.exit_code, asked.stdout) == (0, "This is what I remember: I like green tea.\n")
    assert asked.stderr == "recalled: I like green tea.\n"


def test_what_was_added_before_is_recalled_and_can_be_forgotten():
    CliRunner().invoke(app, ["add", "Sam lives in Oslo."])
    done = chat("Where does Sam live?", "Forget that Sam lives in Oslo.", "Where does Sam live?")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:2] == [
        "This is what I remember: Sam lives in Oslo.",
        "It is forgotten.",
    ]
    assert stored() == []


def test_a_session_is_kept_and_gone_on_with():
    options = ["--session", "s1", "--json"]
    chat("Hello!", options=options)
    chat("Thanks!", options=options)
    assert len(asyncio.run(SqliteConversations("vectormem.db").load("s1")).messages) == 4


def test_turns_are_recorded_and_found_in_another_session():
    chat("Hello!", "thanks", options=["--session", "s1", "--user", "ada"])
    chats = blocking(ChatStorage("vectormem.db", embedder=HashEmbedder(), scope_key="user:ada"))
    assert [one.role for one in chats.messages("s1")] == ["user", "assistant"] * 2
    chats.save_message("s0", "user", "The spare key is under the blue pot")
    chats.close()
    found = chat("Where is the spare key?", options=["--session", "s2", "--user", "ada"])
    assert found.stdout == "You talked about it before: The spare key is under the blue pot\n"
    assert found.stderr == "recalled: The spare key is under the blue pot\n"


def test_one_user_never_sees_what_another_said():
    chat("I like green tea.", options=["--user", "ada"])
    asked = chat("Which tea do I like?", options=["--user", "eve"])
    assert asked.stdout == "I do not know that yet. Tell me, and I will remember it.\n"
    assert (stored("memory#user:ada"), stored("memory#user:eve")) == (["I like green tea."], [])


def test_json_is_one_document_of_the_turns():
    done = chat("I like green tea.", "", "Which tea do I like?", options=["--session", "s1", "--json"])
    assert json.loads(done.stdout) == {
        "session": "s1",
        "user": None,
        "error": None,
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
    assert done.stdout == "I will remember that.\n"
    assert "I like green tea." in (folder / "facts" / "facts%23user%3aada.json").read_text()


def test_an_input_of_blank_lines_is_no_message():
    done = chat("", "   ")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("model", ["nonsense", "openai:gpt-5"])
def test_a_model_that_cannot_be_used_says_why_and_makes_no_file(model, folder):
    done = chat("hi", model=model)
    with pytest.raises(Exception) as why:
        infer_model(model)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the model {model!r} cannot be used: {str(why.value)[:20]}")
    assert list(folder.iterdir()) == []


def test_a_model_that_fails_ends_a_piped_chat_with_status_1(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    done = chat("hi", "there", model="openai-chat:gpt-5")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.count("error: ") == 1
    document = json.loads(chat("hi", model="openai-chat:gpt-5", options=["--json"]).stdout)
    assert document["turns"] == []
    assert done.stderr == f"error: {document['error']}\n"


def test_a_key_without_a_scope_key_is_refused():
    done = chat("hi", options=["--key", "facts"])
    assert done.exit_code == 1
    assert "--key is SLOT#SCOPE_KEY" in done.stderr


def test_a_key_names_the_memory_to_use():
    chat("I like green tea.", options=["--key", "facts#team:a"])
    assert stored("facts#team:a") == ["I like green tea."]


def test_a_process_answers_line_by_line_in_a_pipe():
    done = in_process(b"I like green tea.\nWhich tea do I like?\n")
    assert done.returncode == 0
    assert done.stdout == b"I will remember that.\nThis is what I remember: I like green tea.\n"
    assert done.stderr == b"remembered: I like green tea.\nrecalled: I like green tea.\n"


def test_bytes_that_are_no_text_are_an_error():
    done = in_process(b"\xff\xfe\n")
    assert done.returncode == 1
    assert b"not UTF-8" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_interrupt_while_the_model_answers_ends_the_chat_without_its_turn():
    code = (
        "import os, signal, sys\n"
        "import vectormem.cli.chat_model as models\n"
        "def interrupted(said, info): os.kill(os.getpid(), signal.SIGINT); return 'never mind'\n"
        "models._plan = interrupted\n"
        "sys.argv = ['vectormem', 'chat', '--model', 'test']\n"
        "from vectormem.cli.app import main; main()"
    )
    done = in_process(b"hi\n", code=code)
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr
    assert asyncio.run(SqliteConversations("vectormem.db").load("main")) is None


def test_the_end_of_file_ends_a_typed_chat_quietly():
    status, shown = in_terminal(b"I like tea\xff.\n", b"\x04")
    assert status == 0
    assert "remembered: I like tea?." in shown
    assert "I will remember that." in shown
    assert "Traceback" not in shown


def test_an_interrupt_at_the_prompt_ends_a_typed_chat_quietly():
    status, shown = in_terminal(signal.SIGINT)
    assert status == 0
    assert "Traceback" not in shown


HOSTILE = "a tea\x1b[2J\x9b31m\rb\x07\u202ec\u200bd"


def test_hostile_text_is_harmless_on_a_terminal():
    memory = blocking(SqliteVectorMemory("vectormem.db", embedder=HashEmbedder()))
    memory.add("memory#global", HOSTILE)
    memory.close()
    status, shown = in_terminal(b"what tea?\n", b"\x04")
    assert status == 0
    assert "recalled: a tea" in shown
    assert "This is what I remember: a tea" in shown
    assert not any(mark in shown for mark in ("\x1b[2J", "\x9b", "\x07", "\u202e", "\u200b"))
