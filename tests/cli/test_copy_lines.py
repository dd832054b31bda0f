"""`copy` to lines of JSON and back: what comes back is what was there, and a bad line stops it."""

import asyncio
import base64
import json

import numpy as np
import pytest

from tests.cli.test_copy import fill, held
from vectormem import SqliteStore, SqliteVectorMemory, blocking
from vectormem.cli import copy_lines
from vectormem.testing import HashEmbedder

EVERYTHING = {"items": {"read": 6, "copied": 6}, "messages": {"read": 2, "copied": 2}}


@pytest.fixture
def lines(run_json, folder):
    """The lines of a database with items, chats and the vectors of both."""
    fill("from.db")
    assert run_json("copy", "from.db", "all.jsonl") == EVERYTHING
    return (folder / "all.jsonl").read_text("utf-8").splitlines()


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_a_database_comes_back_the_same_from_lines_of_json(run_json, lines, monkeypatch, at_once):
    monkeypatch.setattr(copy_lines, "_AT_ONCE", at_once)
    assert run_json("copy", "all.jsonl", "to.db") == EVERYTHING
    assert held("to.db") == held("from.db")
    assert held("to.db")[-2:] == [0, 0]
    assert run_json("copy", "all.jsonl", "to.db")["items"] == {"read": 6, "copied": 0}
    assert held("to.db") == held("from.db")


def test_a_line_holds_the_item_and_its_vector_as_float32(lines, folder):
    line = json.loads(lines[0])
    vector = line.pop("vector")
    with SqliteStore("from.db") as store:
        item = blocking(SqliteVectorMemory(store, embedder=HashEmbedder())).list("notes#a")[-1]
    assert line == {
        "key": "notes#a",
        "id": item.id,
        "text": "fact 0 about tea",
        "created_at": item.created_at.isoformat().replace("+00:00", "Z"),
        "metadata": {"n": 1},
    }
    assert vector["embedder"] == "hash:256"
    values = np.frombuffer(base64.b64decode(vector["float32"]), "<f4")
    assert (len(values), float(np.linalg.norm(values))) == (256, pytest.approx(1, abs=1e-6))
    assert (folder / "all.jsonl").stat().st_mode & 0o077 == 0


def test_what_export_writes_is_copied_without_vectors(run, run_json, folder):
    fill("from.db")
    run("export", "--all-keys", "--db", "from.db", "--output", "items.jsonl")
    assert run_json("copy", "items.jsonl", "to.db")["items"] == {"read": 6, "copied": 6}
    assert run_json("stats", "--db", "to.db")["keys"][0]["without_vector"] == 5


def test_one_memory_is_copied_alone(run_json, lines):
    one = {"items": {"read": 1, "copied": 1}, "messages": {"read": 0, "copied": 0}}
    for number, ends in enumerate((("from.db", "a.db"), ("all.jsonl", "b.db"), ("from.db", "b.jsonl"))):
        assert run_json("copy", *ends, "--key", "notes#b") == one, number
    assert run_json("keys", "--db", "b.db")["keys"] == [{"key": "notes#b", "items": 1}]


def test_what_a_migration_brought_and_was_forgotten_stays_forgotten_in_the_copy(run_json, folder):
    with SqliteStore("from.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        memory.add("global", "likes tea")
        asyncio.run(memory.target.copy_from("global", "notes#global"))
        memory.clear("notes#global")
    run_json("copy", "from.db", "all.jsonl")
    for source in ("from.db", "all.jsonl"):
        run_json("copy", source, f"{source}.copy")
        with SqliteStore(f"{source}.copy") as store:
            memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
            asyncio.run(memory.target.copy_from("global", "notes#global"))
            assert list(memory.list("notes#global")) == []


def vector(*values):
    return {"embedder": "e", "float32": base64.b64encode(np.array(values, "<f4").tobytes()).decode()}


ITEM = {"key": "k", "id": "1", "text": "likes tea", "created_at": "2026-01-01T00:00:00Z"}
MESSAGE = {
    "scope_key": "k",
    "conversation_id": "c",
    "id": "m",
    "role": "user",
    "content": "Hello",
    "created_at": "2026-01-01T00:00:00Z",
}
OF_MESSAGE = {"scope_key": "k", "message_id": "m", "content_hash": "", "parts": [[0, 0, 5]], "vectors": vector(1, 0)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ({**ITEM, "text": ""}, "text"),
        ({**ITEM, "created_at": "2026-01-01T00:00:00"}, "created_at"),
        ({**ITEM, "more": 1}, "more"),
        ({**ITEM, "metadata": {"a": [1] * 3}, "id": "a b"}, "white space"),
        ({**ITEM, "vector": vector()}, "needs the id of its embedder and values"),
        ({**ITEM, "vector": vector(float("nan"), 0)}, "finite and of length 1"),
        ({**ITEM, "vector": vector(3, 4)}, "finite and of length 1"),
        ({**ITEM, "vector": {"embedder": "e", "float32": "AAA"}}, "base64"),
        ({**ITEM, "vector": {"embedder": "e", "float32": "AAAA"}}, "float32"),
        ({**ITEM, "vector": {**vector(1), "embedder": " "}}, "needs the id"),
        ({**MESSAGE, "role": ""}, "role"),
        ({**OF_MESSAGE, "parts": []}, "parts"),
        ({**OF_MESSAGE, "parts": [[0, 5, 2]]}, "parts"),
        ({**OF_MESSAGE, "parts": [[0, 0, 1], [1, 1, 2], [2, 2, 3]]}, "equal parts"),
        ({"key": "k", "migrated": ["a b"]}, "white space"),
    ],
)
def test_a_bad_line_is_named_and_what_stands_before_it_is_stored(run, run_json, folder, line, reason):
    text = line if isinstance(line, str) else json.dumps(line)
    (folder / "bad.jsonl").write_text(f"{json.dumps({**ITEM, 'id': '0', 'text': 'good'})}\n{text}\n")
    result = run("copy", "bad.jsonl", "to.db")
    assert result.exit_code == 1
    assert "bad.jsonl, line 2: " in result.stderr
    assert reason in result.stderr
    assert [item["text"] for item in run_json("list", "--key", "k", "--db", "to.db")["items"]] == ["good"]


def test_lines_that_repeat_an_id_or_a_text_are_stored_once(run_json, folder):
    items = [ITEM, {**ITEM, "text": "likes milk"}, {**ITEM, "id": "2"}, ITEM]
    lines = [json.dumps(line) for line in (*items, MESSAGE, {**MESSAGE, "content": "Goodbye"})]
    (folder / "twice.jsonl").write_text("\n".join(lines))
    assert run_json("copy", "twice.jsonl", "to.db") == {
        "items": {"read": 4, "copied": 1},
        "messages": {"read": 2, "copied": 1},
    }


def test_a_vector_of_other_words_is_not_taken(run_json, folder):
    (folder / "stale.jsonl").write_text(f"{json.dumps(MESSAGE)}\n{json.dumps(OF_MESSAGE)}\n")
    run_json("copy", "stale.jsonl", "to.db")
    with SqliteStore("to.db") as store:
        assert store.read(lambda db: db.execute("SELECT count(*) FROM chat_vectors").get) == 0


def test_messages_that_are_not_where_they_were_copied_to_are_an_error(run, folder):
    (folder / "lost.jsonl").write_text(f"{json.dumps(OF_MESSAGE)}\n")
    result = run("copy", "lost.jsonl", "to.db")
    assert (result.exit_code, "1 of 1 messages of 'k' are not where" in result.stderr) == (1, True)


def test_two_files_of_lines_and_a_missing_one_are_refused(run, folder):
    assert run("copy", "a.jsonl", "b.jsonl").exit_code == 2
    assert run("copy", "a.jsonl", "b.db").exit_code == 1
    assert run("copy", "a.db", "b.jsonl").exit_code == 1
    assert list(folder.iterdir()) == []
