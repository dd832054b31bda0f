"""Several real processes change one key of one server, and every change is kept."""

import subprocess
import sys

import pytest

from tests.extras.redis import worker
from vectormem import KVMemory, RedisKV, blocking


def start(server, name, count):
    process = subprocess.Popen(
        [sys.executable, "-m", worker.__name__, server.url, name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def run_all(server, names, count):
    """Let one process for each name work at the same time; return what they wrote to stderr."""
    processes = [start(server, name, count) for name in names]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    return [error for process in processes if (error := process.communicate(timeout=600)[1])]


@pytest.fixture
def memory(server):
    with blocking(KVMemory(RedisKV(server.url), max_items=None)) as memory:
        yield memory


def test_several_processes_keep_every_item_and_every_removal(server, memory):
    assert run_all(server, "abc", 16) == []
    kept = [f"{name} {number}" for name in "abc" for number in range(0, 16, 2)]
    assert sorted(item.text for item in memory.list(worker.KEY)) == sorted(kept)


def test_the_texts_of_each_process_stay_in_their_order(server, memory):
    assert run_all(server, "ab", 10) == []
    newest_first = [item.text for item in memory.list(worker.KEY)]
    for name in "ab":
        own = [text for text in newest_first if text.startswith(name)]
        assert own == [f"{name} {number}" for number in range(8, -1, -2)]
