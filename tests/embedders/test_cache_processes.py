"""One cache file used by several processes, one of which is killed or forked."""

import asyncio
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import in_forked_child
from tests.embedders.test_cache_file import TEXTS, check_vectors, embedder_on, expected


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache.db"


@pytest.fixture
def filled(path):
    asyncio.run(embedder_on(path).embed(TEXTS))
    return path


WRITER = """
import asyncio, os, sys
from embedders import CachedEmbedder
from vectormem.testing import ScriptedEmbedder
cached = CachedEmbedder(ScriptedEmbedder(id="model", dimensions=96), sys.argv[1], max_bytes=2**20)
print("ready", flush=True)
n = 0
while n < int(sys.argv[2]):
    asyncio.run(cached.embed([f"text number {(n + k) % 400}" for k in range(20)]))
    n += 20
"""


def start_writer(path, texts):
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(texts)], stdout=subprocess.PIPE)


def test_processes_share_the_file(path):
    writers = [start_writer(path, 800) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    for writer in writers:
        writer.stdout.close()
    assert check_vectors(path).misses == 0


@pytest.mark.parametrize("milliseconds", [5, 40, 150])
def test_a_process_that_is_killed_while_it_writes_leaves_a_file_that_works(path, milliseconds):
    writer = start_writer(path, 10**9)
    assert writer.stdout.readline() == b"ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        writer.wait(milliseconds / 1000)
    writer.send_signal(signal.SIGKILL)
    writer.wait(30)
    writer.stdout.close()
    assert check_vectors(path).hits >= len(TEXTS)
    assert not path.with_name("cache.db.corrupt").exists()


def test_a_forked_child_uses_the_cache_of_its_parent(filled):
    cached = embedder_on(filled)
    asyncio.run(cached.embed(TEXTS[:1]))

    def in_child():
        vectors = asyncio.run(cached.embed([*TEXTS, "new in the child"]))
        return np.array_equal(vectors[:-1], expected()), cached.misses

    assert in_forked_child(in_child) == (True, 1)
    asyncio.run(cached.embed(["new in the child"]))
    assert cached.misses == 0
