import asyncio
import json
import os
import signal
import subprocess

import pytest
from mcp import Client

from tests.extras.mcp.conftest import call, command, over_stdio
from vectormem import ChatStorage, SqliteVectorMemory, blocking
from vectormem.mcp_server.limits import MOST_BYTES
from vectormem.testing import HashEmbedder

NOISY = """
import ctypes, os, subprocess, sys
print("a print while the slots are loaded")
os.write(1, b"bytes on descriptor 1\\n")
ctypes.CDLL(None).puts(b"a C library, which writes when the process ends")
subprocess.run(["echo", "a child process"])
from embedders import HashEmbedder, as_embedder
from vectormem import InMemoryVectorMemory

async def embed(texts):
    print("a print while a text is embedded")
    sys.stdin.read()
    return await HashEmbedder().embed(texts)

notes = dict(scope="global", provider=InMemoryVectorMemory(embedder=as_embedder(embed, id="noisy")))
"""


def talk(work, *arguments, env=None, mode="auto"):
    async def main():
        async with Client(over_stdio(*arguments, env=env), mode=mode) as client:
            return await work(client)

    return asyncio.run(main())


def lines(*messages):
    return b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)


HELLO = {
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"method": "notifications/initialized"}


def remember(number, text):
    return {"id": number, "method": "tools/call", "params": {"name": "remember_memory", "arguments": {"text": text}}}


def run(sent, *arguments):
    return subprocess.run(command(*arguments), input=sent, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_one_process_remembers_the_next_one_recalls(tmp_path, mode):
    db = ("--db", tmp_path / "agent.db")
    talk(lambda client: call(client, "remember_memory", text="Sam is vegetarian"), *db, mode=mode)
    found = talk(lambda client: call(client, "recall_memory", query="vegetarian"), *db, mode=mode)
    assert [item["text"] for item in found["items"]] == ["Sam is vegetarian"]


def test_the_memory_is_that_of_the_other_commands(tmp_path):
    path = tmp_path / "agent.db"
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder())) as memory:
        memory.add("facts#user:sam", "Sam is vegetarian")
    found = talk(
        lambda client: call(client, "recall_facts", query="vegetarian"), "--db", path, "--key", "facts#user:sam"
    )
    assert [item["text"] for item in found["items"]] == ["Sam is vegetarian"]


def test_the_file_can_be_named_by_the_environment(tmp_path):
    path = tmp_path / "agent.db"
    talk(lambda client: call(client, "remember_memory", text="tea"), env={"VECTORMEM_DB": str(path)})
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder())) as memory:
        assert [item.text for item in memory.list("memory#global")] == ["tea"]


@pytest.mark.parametrize(("options", "found"), [((), 0), (("--principal", "sam"), 1)])
def test_chats_are_those_of_the_principal(tmp_path, options, found):
    path = tmp_path / "agent.db"
    with blocking(ChatStorage(path, embedder=HashEmbedder(), scope_key="user:sam")) as chat:
        chat.save_message("monday", "user", "The spare key is under the pot")
    answer = talk(lambda client: call(client, "search_memory", query="spare key"), "--db", path, *options)
    assert len(answer["messages"]) == found


def test_the_embedder_is_the_one_that_is_named(tmp_path):
    path = tmp_path / "agent.db"
    talk(lambda client: call(client, "remember_memory", text="tea"), "--db", path, "--embedder", "hash:64")
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder(64))) as memory:
        assert memory.reindex() == 0
        assert memory.list("memory#global", query="tea")[0].score == pytest.approx(1)


def test_standard_output_holds_the_protocol_and_nothing_else(tmp_path):
    """obra/episodic-memory#47"""
    (tmp_path / "notes.py").write_text(NOISY)
    wanted = remember(1, "tea")
    wanted["params"]["name"] = "remember_notes"
    result = run(lines(HELLO, READY, wanted), "--db", tmp_path / "agent.db", "--slots", tmp_path)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [0, 1]
    assert json.loads(result.stdout.splitlines()[1])["result"]["isError"] is False
    noise = [b"slots are loaded", b"descriptor 1", b"C library", b"child process", b"text is embedded"]
    assert [one in result.stderr for one in noise] == [True] * 5
    assert result.returncode == 0


def test_at_the_end_of_input_all_that_was_asked_is_answered(tmp_path):
    asked = [remember(number, f"fact {number}") for number in range(1, 40)]
    result = run(lines(HELLO, READY, *asked), "--db", tmp_path / "agent.db")
    assert (result.returncode, result.stderr) == (0, b"")
    assert sorted(json.loads(line)["id"] for line in result.stdout.splitlines()) == list(range(40))
    with blocking(SqliteVectorMemory(tmp_path / "agent.db", embedder=HashEmbedder())) as memory:
        assert memory.count("memory#global") == 39


@pytest.mark.parametrize("sent", [b"", b"\n", b"not JSON\n", b"[" * 100_000, b"\xff\xfe\n", b"{}\n[]\nnull\n"])
def test_input_that_is_no_request_ends_as_quietly(tmp_path, sent):
    result = run(sent, "--db", tmp_path / "agent.db")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_a_request_that_is_too_large_is_refused_and_the_next_is_answered(tmp_path):
    result = run(lines(HELLO, READY, remember(1, "x" * MOST_BYTES), remember(2, "tea")), "--db", tmp_path / "agent.db")
    answers = {answer["id"]: answer for answer in map(json.loads, result.stdout.splitlines())}
    assert answers.keys() == {0, None, 2}
    assert answers[None]["error"]["message"] == f"Request too large: at most {MOST_BYTES} bytes"


def started(path):
    return subprocess.Popen(
        command("--db", path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_sigterm_ends_it_at_once_and_cleanly(tmp_path):
    with started(tmp_path / "agent.db") as process:
        process.stdin.write(lines(HELLO, READY, remember(1, "tea")))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=30)
    assert [answer["id"] for answer in answers] == [0, 1]
    assert (process.returncode, rest, errors) == (0, b"", b"")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_sigterm_ends_it_though_nobody_reads_its_answers(tmp_path):
    with started(tmp_path / "agent.db") as process:
        process.stdin.write(lines(HELLO, READY))
        process.stdin.flush()
        process.stdout.readline()
        asked = lines(*({"id": number, "method": "tools/list"} for number in range(1, 200)))
        process.stdin.write(asked)
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        assert (process.wait(timeout=30), process.stderr.read()) == (0, b"")
        process.stdin.close()


def test_a_reader_that_leaves_ends_it_quietly(tmp_path):
    with started(tmp_path / "agent.db") as process:
        process.stdin.write(lines(HELLO, READY))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(lines(remember(1, "tea")))
        process.stdin.flush()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 0
        process.stdin.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("slot = dict(scope=lambda context: f'user:{context.principal}', provider=memory)", "--principal or --tokens"),
        ("raise RuntimeError('no such model')", "no such model"),
        ("slots = []", "it holds 0"),
    ],
)
def test_slots_that_cannot_be_served_are_a_failure_at_the_start(tmp_path, text, reason):
    (tmp_path / "facts.py").write_text(f"from vectormem import InMemoryMemory\nmemory = InMemoryMemory()\n{text}\n")
    result = run(b"", "--db", tmp_path / "agent.db", "--slots", tmp_path)
    assert (result.returncode, result.stdout) == (1, b"")
    assert reason in result.stderr.decode()
    assert b"Traceback" not in result.stderr


def test_a_newer_file_is_a_failure_at_the_start(tmp_path):
    path = tmp_path / "agent.db"
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder())):
        pass
    subprocess.run(
        ["python3", "-c", f"import sqlite3; sqlite3.connect({str(path)!r}).execute('PRAGMA user_version=999')"]
    )
    result = run(b"", "--db", path)
    assert (result.returncode, result.stdout) == (1, b"")
    assert b"newer" in result.stderr


@pytest.mark.parametrize(
    ("embedder", "extra"), [("st:a/b", "sentence-transformers"), ("static:a/b", "model2vec"), ("openai:a", "openai")]
)
def test_an_embedder_whose_extra_is_missing_is_a_failure_at_the_start(tmp_path, embedder, extra):
    result = run(b"", "--db", tmp_path / "agent.db", "--embedder", embedder)
    assert (result.returncode, result.stdout) == (1, b"")
    assert f"pip install 'vectormem[{extra}]'" in result.stderr.decode()
    assert list(tmp_path.iterdir()) == []
