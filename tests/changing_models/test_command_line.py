"""Changing the model of a store on the command line, from the first search to the last."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def run(tmp_path):
    """Run a command of vectormem in the folder of the test; return its status, output and errors."""

    def call(*args):
        command = [sys.executable, "-m", "vectormem", *args]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    return call


def test_from_one_embedder_to_another(run):
    for text in ("Sam likes green tea", "Sam lives in Oslo", "The rent is due"):
        assert run("add", text, "--embedder", "hash:64")[0] == 0
    assert run("add", "Sam drinks tea at noon", "--embedder", "hash:128")[0] == 0

    assert len(run("list")[1].splitlines()) == 4
    status, out, error = run("search", "tea", "--embedder", "hash:128")
    assert (status, [line.split("\t")[-1] for line in out.splitlines()]) == (0, ["Sam drinks tea at noon"])
    assert "3 of 4 items were not searched: 3 embedded by hash:64 (64 d)" in error
    assert "`vectormem reindex --db vectormem.db --key 'memory#global' --embedder hash:128`" in error

    rows = [line.split("\t") for line in run("stats")[1].splitlines()[:2]]
    assert sorted((row[2], row[4]) for row in rows) == [("hash:128", "1"), ("hash:64", "3")]
    status, out, _ = run("doctor", "--embedder", "hash:128", "--json")
    told = json.loads(out)
    assert (status, {one["embedder"]: one["vectors"] for one in told["embedders"]}) == (
        0,
        {"hash:64": 3, "hash:128": 1},
    )
    assert any("reindex --db vectormem.db --embedder hash:128" in one["advice"] for one in told["findings"])

    assert run("reindex", "--embedder", "hash:128")[1] == "reindexed 3 items by hash:128\n"
    status, out, error = run("search", "tea", "--embedder", "hash:128")
    assert (len(out.splitlines()), error) == (2, "")
    assert run("reindex", "--embedder", "hash:128")[1] == "reindexed 0 items by hash:128\n"
    assert "hash:64" not in run("stats")[1] + run("doctor")[1]
