"""A process that is killed in the middle of its writes, and programs that end without closing anything."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import texts_of
from tests.processes.crowd import release, start_worker
from tests.processes.worker import KEY, open_memory
from vectormem import SqliteMemory, blocking

KINDS = ("file", "sqlite", "vectors")

if os.name == "nt":
    pytest.skip("SIGKILL is a signal of POSIX systems", allow_module_level=True)


def kill_after(worker, adds):
    """Kill a worker as soon as it has stored so many items; return the numbers that it had reported by then."""
    release(worker)
    stored = [int(worker.stdout.readline()) for _ in range(adds)]
    worker.send_signal(signal.SIGKILL)
    rest = worker.stdout.read()  # communicate() would pass over the lines that are buffered already
    worker.communicate()
    return stored + [int(line) for line in rest.split("\n")[:-1] if line]


def age_locks(folder):
    """Let locks that a dead process left look as old as they would half a minute later."""
    for lock in folder.rglob("*.lock"):
        then = time.time() - 31
        os.utime(lock, (then, then))


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_killed_process_had_stored_is_there_whole_and_the_next_writer_goes_on(kind, tmp_path):
    """tox-dev/filelock#476, agent0ai/agent-zero#1536"""
    expected = []
    for attempt, adds in enumerate((1, 7, 23)):
        name = f"victim{attempt}"
        stored = kill_after(start_worker(kind, tmp_path, name, 100_000), adds)
        age_locks(tmp_path)
        with blocking(open_memory(kind, tmp_path)) as memory:
            kept = list(reversed(texts_of(memory.list(KEY))))
            own = [text for text in kept if text.startswith(f"{name} ")]
            assert own[: len(stored)] == [f"{name} {number}" for number in stored]
            assert len(own) - len(stored) in (0, 1)  # one more may be stored and not yet reported
            assert kept == expected + own
            memory.add(KEY, f"survivor {attempt}")
            assert texts_of(memory.list(KEY, query=f"survivor {attempt}", limit=1)) == [f"survivor {attempt}"]
            expected = [*kept, f"survivor {attempt}"]
        assert [path for path in tmp_path.rglob("*") if path.suffix in (".tmp", ".lock")] == []


NEVER_CLOSED = {
    "blocking": """
from vectormem import *
from embedders import HashEmbedder
for memory in (SqliteMemory("a.db"), SqliteVectorMemory("b.db", embedder=HashEmbedder()), FileMemory("files")):
    blocking(memory).add("k", "Tea.")
    blocking(memory).list("k", query="tea")
print("stored")
""",
    "asyncio": """
import asyncio
from vectormem import *
from embedders import HashEmbedder

async def main():
    for memory in (SqliteMemory("a.db"), SqliteVectorMemory("b.db", embedder=HashEmbedder()), FileMemory("files")):
        await memory.add("k", "Tea.")
        await memory.list("k", query="tea")

asyncio.run(main())
asyncio.run(main())
print("stored")
""",
    "failing": """
from vectormem import *
memory = blocking(SqliteMemory("a.db"))
memory.add("k", "Tea.")
print("stored", flush=True)
raise SystemExit(3)
""",
    "atexit": """
import atexit
from vectormem import *
memory, files = blocking(SqliteMemory("a.db")), blocking(FileMemory("files"))
memory.add("k", "Tea.")
files.add("k", "Tea.")
atexit.register(lambda: print("stored"))
""",
}


@pytest.mark.parametrize("script", NEVER_CLOSED)
def test_a_program_that_closes_nothing_ends_by_itself(script, tmp_path):
    """ogx-ai/ogx#4587"""
    done = subprocess.run(
        [sys.executable, "-c", NEVER_CLOSED[script]], cwd=tmp_path, capture_output=True, text=True, timeout=30
    )
    assert (done.stdout, done.stderr) == ("stored\n", "")
    assert done.returncode == (3 if script == "failing" else 0)
    with blocking(SqliteMemory(tmp_path / "a.db")) as memory:
        assert texts_of(memory.list("k")) == ["Tea."]
