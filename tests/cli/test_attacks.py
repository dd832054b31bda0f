"""Hostile texts, ids, keys and metadata on the command line: shown as they are, escaped, and nothing else."""

import json
import re

import pytest

from tests.cli.conftest import KEY, in_terminal
from tests.faults.attacks import ATTACKS, IDS
from vectormem.cli.output import shown

STYLES = re.compile(r"\x1b\[[0-9;]*m")
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
COMMANDS = [
    ("list",),
    ("list", "--json"),
    ("search", "tea", "--min-score", "-1", "--limit", "1000"),
    ("export", "--all-keys"),
    ("keys",),
    ("stats",),
    ("doctor",),
]


@pytest.fixture
def hostile(memory):
    """The default database full of attacks."""
    filled = memory()
    filled.add_many(KEY, ATTACKS, metadata=[{one: one} for one in ATTACKS])
    for one in IDS:
        filled.upsert(KEY, f"the id is {one}", id=one)
    for one in ATTACKS:
        filled.add(one, "tea")
    return filled


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_attack_acts_in_a_pipe(run, hostile, command):
    result = run(*command)
    assert result.exit_code == 0
    assert ACTING.findall(result.stdout + result.stderr) == []


@pytest.mark.parametrize("command", [("list",), ("keys",)], ids=" ".join)
def test_no_attack_acts_on_a_terminal(hostile, command):
    status, output = in_terminal(*command)
    assert status == 0
    plain = STYLES.sub("", output).replace("\r\n", "\n")
    assert ACTING.findall(plain) == []
    assert "[bold red]x[/]" in plain
    assert ":boom:" in plain


def test_every_attack_is_one_line_of_a_pipe_with_its_fields_in_their_places(run, hostile):
    lines = run("list").stdout.split("\n")[:-1]
    items = hostile.list(KEY)
    assert [line.split("\t")[1:] for line in lines] == [[shown(item.id), shown(item.text)] for item in items]


def test_attacks_survive_export_and_import(run, hostile, memory):
    exported = run("export", "--all-keys").stdout
    assert len(exported.splitlines()) == hostile.count(KEY) + len(ATTACKS)
    assert run("import", "-", "--db", "copy.db", input=exported).exit_code == 0
    copy = memory("copy.db")
    assert {key: copy.list(key) for key in copy.scope_keys()} == {
        key: hostile.list(key) for key in hostile.scope_keys()
    }


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_as_an_argument_names_one_key_and_one_id(run, run_json, memory, attack):
    memory().add("bystander", "tea")
    assert run_json("add", "tea", f"--key={attack}")["key"] == attack
    assert [item["text"] for item in run_json("list", f"--key={attack}")["items"]] == ["tea"]
    refused = run("forget", f"--key={attack}", "--", attack)
    assert refused.exit_code == 1
    assert ACTING.findall(refused.stderr) == []
    assert run_json("forget", "--all", f"--key={attack}")["forgotten"] == 1
    assert memory().count("bystander") == 1


@pytest.mark.parametrize(
    "scope", ["%", "*", "user:", "user:sam%", "user:SAM", "USER:sam", "user:sam ", "sam", "#user:sam"]
)
def test_forgetting_a_scope_forgets_no_other(run_json, memory, scope):
    """langchain-ai/langgraphjs#2512"""
    filled = memory()
    for key in ("facts#user:sam", "notes#user:sam", "facts#user:samantha", "facts#x#user:sam"):
        filled.add(key, "tea")
    assert run_json("forget", "--yes", f"--scope={scope}") == {"forgotten": 0, "keys": {}}
    assert len(filled.scope_keys()) == 4
    assert run_json("forget", "--yes", "--scope=user:sam")["keys"] == {"facts#user:sam": 1, "notes#user:sam": 1}


def test_a_bad_line_of_an_import_is_quoted_harmlessly(run):
    for attack in ATTACKS:
        line = json.dumps({"text": "tea", attack: attack, "id": attack}, ensure_ascii=False)
        result = run("import", "-", "--format", "jsonl", input=line)
        assert result.exit_code == 1
        assert ACTING.findall(result.stderr) == []


PAIRS = [
    ("user:a", "USER:A"),
    ("a%", "ab"),
    ("a", "a*"),
    ("é", "e\u0301"),
    ("x' OR 1=1 --", "x"),
    ("a/b", "a/b/"),
    ("k", "k "),
]


@pytest.mark.parametrize(("one", "two"), [*PAIRS, *[pair[::-1] for pair in PAIRS]])
def test_no_command_on_one_key_reaches_into_another(run, run_json, memory, one, two):
    """langchain-ai/langgraphjs#2512, richfitz/storr#95, oceanbase/powercontext#898"""
    filled = memory()
    theirs = filled.add(two, "tea of the other")
    key = f"--key={one}"
    assert run_json("list", key)["items"] == run_json("search", "tea", key, "--min-score=-1")["items"] == []
    assert run_json("export", key)["items"] == run_json("keys", key)["keys"] == run_json("stats", key)["keys"] == []
    assert run_json("forget", theirs.id, key, exit_code=1)["error"]["code"] == "MEMORY_INVALID"
    assert run_json("reindex", key, "--embedder=hash:8")["reindexed"] == 0
    line = json.dumps({"key": two, "id": theirs.id, "text": "mine"})
    assert run("import", "-", "--format=jsonl", key, input=line).exit_code == 0
    assert run_json("add", "more tea", "--max-items=1", key)["added"] is True
    assert run_json("forget", "--all", key)["keys"] == {one: 1}
    assert filled.list(two) == [theirs]
    assert [(found.text, found.score) for found in filled.list(two, query="tea of the other")] == [(theirs.text, 1.0)]
