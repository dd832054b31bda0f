"""Faults of command lines: output that is no JSON, glued lines, success that was none, scores that differ."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from embedders import EmbedderError, HashEmbedder
from tests.cli.conftest import KEY
from vectormem import MemoryContext, MemoryRun, SqliteVectorMemory, blocking, define_memory
from vectormem.cli import embedder as choices
from vectormem.cli.app import app

LOUD = """
import ctypes, os, sys
import numpy as np
import embedders

class Loud:
    def __init__(self, model):
        print("Loading weights: 100%")
        os.write(1, b"a banner of the system\\n")
        ctypes.CDLL(None).printf(b"a banner in C\\n")
        self.id, self.dimensions, self.max_batch = "loud", 2, 8

    async def embed(self, texts, *, kind="document"):
        print("Batches: 100%")
        sys.stdout.write("a bar")
        ctypes.CDLL(None).printf(b"one more\\n")
        return np.ones((len(texts), 2))

embedders.Model2VecEmbedder = Loud
from vectormem.cli.app import main
main()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args):
    return CliRunner().invoke(app, list(args))


def run_loud(*args):
    call = [sys.executable, "-c", LOUD, *args, "--embedder", "static:any", "--json"]
    return subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="the model prints through libc")
def test_a_model_that_prints_leaves_standard_output_to_the_command():
    """obra/episodic-memory#47, MemPalace/mempalace#864"""
    for arguments in (("add", "tea"), ("search", "tea")):
        done = run_loud(*arguments)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)
        assert done.stdout.startswith("{\n")
        assert done.stdout.endswith("\n}\n")
        for said in ("Loading weights", "a banner of the system", "a banner in C"):
            assert said in done.stderr


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
def test_a_record_that_is_appended_to_an_export_is_a_line_of_its_own(tmp_path, ending):
    """modelcontextprotocol/servers#3653"""
    run("add", "tea")
    run("export", "-o", "all.jsonl")
    path = tmp_path / "all.jsonl"
    assert path.read_text().endswith("}\n")
    with path.open("a") as file:
        file.write('{"text": "milk"}' + ending)
    done = run("import", "all.jsonl", "--db", "copy.db", "--json")
    assert json.loads(done.stdout)["imported"] == 2


def test_glued_records_are_named_by_their_line_and_what_stands_before_is_kept(tmp_path):
    """modelcontextprotocol/servers#3653"""
    (tmp_path / "glued.jsonl").write_text('{"text": "tea"}\n{"text": "milk"}{"text": "bread"}\n{"text": "ox"}\n')
    done = run("import", "glued.jsonl")
    assert done.exit_code == 1
    assert "glued.jsonl, line 2" in done.stderr
    assert "1 item before it stored" in done.stderr
    listed = json.loads(run("list", "--json").stdout)["items"]
    assert [item["text"] for item in listed] == ["tea"]


class Broken(HashEmbedder):
    """Fails from a call on."""

    max_batch = 2

    def __init__(self, fails_from):
        super().__init__(16)
        self.fails_from = fails_from
        self.calls = 0

    async def embed(self, texts, *, kind="document"):
        self.calls += 1
        if self.calls > self.fails_from:
            raise EmbedderError("429: rate limit")
        return await super().embed(texts, kind=kind)


@pytest.mark.parametrize(("fails_from", "done"), [(0, 0), (2, 4)])
def test_a_reindex_that_fails_ends_with_status_1_and_the_counts(tmp_path, monkeypatch, fails_from, done):
    """nowledge-co/nowledge-mem#75, itlackey/akm#874"""
    path = tmp_path / "memory.db"
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder(8))) as memory:
        memory.add_many(KEY, [f"tea {number}" for number in range(10)])
    kind = choices.KINDS["st"]._replace(parse=lambda detail: lambda: Broken(fails_from))
    monkeypatch.setitem(choices.KINDS, "st", kind)
    result = run("reindex", "--db", str(path), "--embedder", "st:x", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "EMBEDDING_FAILED"
    assert f"{done} of 10 items were reindexed" in error["message"]


def test_a_score_is_the_same_in_python_in_the_tool_and_on_the_command_line(tmp_path):
    """open-metadata/OpenMetadata#28476"""
    path = tmp_path / "vectormem.db"
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder())) as memory:
        memory.add(KEY, "green tea with milk and honey")
        (item,) = memory.list(KEY, query="green tea")
        slot = define_memory(name="memory", scope="global", provider=memory.target)
        run_of_agent = blocking(MemoryRun([slot], MemoryContext()))
        (shown,) = run_of_agent.call("recall_memory", {"query": "green tea"})["items"]
    (printed,) = json.loads(run("search", "green tea", "--json").stdout)["items"]
    assert item.score == shown["score"] == printed["score"]
    assert item.score == pytest.approx(2 / np.sqrt(2 * 5), abs=1e-6)  # two words of two, two of five
