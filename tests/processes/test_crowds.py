"""Several real processes writing one memory at the same time."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.conftest import texts_of
from tests.processes.crowd import run_crowd
from tests.processes.worker import KEY, open_memory
from vectormem import SqliteMemory, blocking

KINDS = ("file", "sqlite", "vectors")
WRITERS = [f"writer{number}" for number in range(6)]
ADDS = 40
OPENERS = 8
ROUNDS = 20


@pytest.mark.parametrize("kind", KINDS)
def test_six_processes_keep_every_item_in_the_order_of_each(kind, tmp_path):
    """modelcontextprotocol/servers#1819, #2577, openai/openai-agents-python#4987"""
    assert run_crowd(kind, tmp_path, WRITERS, ADDS) == []
    with blocking(open_memory(kind, tmp_path)) as memory:
        kept = texts_of(memory.list(KEY))
        found = texts_of(memory.list(KEY, query="39"))
    assert len(kept) == len(WRITERS) * ADDS
    for writer in WRITERS:
        own = [text for text in kept if text.startswith(f"{writer} ")]
        assert own == [f"{writer} {number}" for number in reversed(range(ADDS))]
    assert {text for text in found if text.endswith(" 39")} == {f"{writer} 39" for writer in WRITERS}
    if kind == "file":
        (file,) = (tmp_path / "files").iterdir()
        assert len(json.loads(file.read_bytes())["items"]) == len(kept)
    else:
        check_database(next(tmp_path.glob("*.db")), kept, vectors=kind == "vectors")


def check_database(path, kept, *, vectors):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("SELECT count(*) FROM memory_items").fetchall() == [(len(kept),)]
        assert connection.execute("SELECT count(*) FROM memory_vectors").fetchall() == [(len(kept) * vectors,)]


OPENER = """
import sys
from pathlib import Path
from vectormem import SqliteMemory, blocking

folder, name = Path(sys.argv[1]), sys.argv[2]
for line in sys.stdin:
    with blocking(SqliteMemory(folder / f"{line.strip()}.db")) as memory:
        memory.add("k", name)
    print("done", flush=True)
"""


def test_eight_processes_open_a_new_file_at_once_and_none_fails(tmp_path):
    """openai/openai-agents-python#4987"""
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(tmp_path), f"opener{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(OPENERS)
    ]
    for number in range(ROUNDS):
        for opener in openers:
            opener.stdin.write(f"{number}\n")
            opener.stdin.flush()
        for opener in openers:
            assert opener.stdout.readline() == "done\n", opener.communicate()[1]
    for opener in openers:
        assert opener.communicate() == ("", "")
    for number in range(ROUNDS):
        with blocking(SqliteMemory(tmp_path / f"{number}.db")) as memory:
            assert sorted(texts_of(memory.list("k"))) == [f"opener{number}" for number in range(OPENERS)]
