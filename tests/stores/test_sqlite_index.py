"""The vectors kept in memory when the file does something unusual: reads that break off, older states, closing."""

import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import FixedEmbedder, texts_of
from vectormem import SqliteStore, SqliteVectorMemory, StorageFailedError, blocking
from vectormem.stores.sqlite import item_search, search
from vectormem.stores.sqlite.vectors import SqlVectors

TEXTS = [str(number) for number in range(12)]
EMBEDDER = FixedEmbedder(dict(zip(TEXTS, np.eye(12), strict=True)), default=[1] * 12)


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "memory.db") as store:
        yield store


def test_a_search_that_breaks_off_while_it_takes_in_changes_spoils_no_later_one(tmp_path, store, monkeypatch):
    memory = blocking(SqliteVectorMemory(store, embedder=EMBEDDER))
    memory.add_many("k", TEXTS[:4])
    assert len(memory.list("k", query="all", limit=20)) == 4
    with SqliteStore(tmp_path / "memory.db") as other:
        writer = blocking(SqliteVectorMemory(other, embedder=EMBEDDER))
        writer.add_many("k", TEXTS[4:])
        writer.upsert("k", TEXTS[0], id=writer.list("k")[-1].id, metadata={"again": True})
    read = SqlVectors.after

    def break_off(vectors, seq):
        yield from read(vectors, seq)
        raise InterruptedError

    with monkeypatch.context() as patched:
        patched.setattr(SqlVectors, "after", break_off)
        with pytest.raises(InterruptedError):
            memory.list("k", query="all", limit=20)
    assert sorted(texts_of(memory.list("k", query="all", limit=20)), key=int) == TEXTS
    assert len(memory.list("k", query="all", limit=11)) == 11
    assert [(item.text, item.score) for item in memory.list("k", query="7")] == [("7", 1.0)]


RESTORED = """
import asyncio, sys, apsw
from contextlib import closing
from embedders import HashEmbedder
from vectormem import SqliteStore, SqliteVectorMemory, blocking

path, copy = sys.argv[1:]
with SqliteStore(path) as store:
    memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
    memory.add_many("k", ["green tea", "milk"])
    with closing(apsw.Connection(path)) as source, closing(apsw.Connection(copy)) as target:
        with target.backup("main", source, "main") as backup:
            backup.step()
    memory.add_many("k", ["black tea", "bread"])
    print([item.text for item in memory.list("k", query="tea", limit=5)])
    with closing(apsw.Connection(copy)) as source, closing(apsw.Connection(path)) as target:
        with target.backup("main", source, "main") as backup:
            backup.step()
    print([item.text for item in memory.list("k", query="tea", limit=5)])
"""


def test_a_file_that_was_put_back_to_an_older_state_is_searched_as_it_is_now(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RESTORED, str(tmp_path / "memory.db"), str(tmp_path / "copy.db")],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (done.stdout, done.stderr) == ("['black tea', 'green tea']\n['green tea']\n", "")


def test_closing_a_store_while_a_key_is_loaded_in_the_background_is_no_error(store, monkeypatch):
    """ogx-ai/ogx#4587"""
    for limit in ("_LOADED_AT_ONCE", "_LOADED_IN_PLACE"):
        monkeypatch.setattr(search, limit, 1)
    late = []

    class Late:
        """A thread that starts when the test says so."""

        def __init__(self, *, target, args, **_):
            self.run = lambda: target(*args)

        def start(self):
            late.append(self)

    monkeypatch.setattr(search.threading, "Thread", Late)
    memory = SqliteVectorMemory(store, embedder=EMBEDDER)
    plain = blocking(memory)
    plain.add_many("k", TEXTS)
    with monkeypatch.context() as patched:
        patched.setattr(item_search, "run_in_thread", run_here)
        for _ in range(3):
            assert len(plain.list("k", query="all", limit=20)) == 12
    assert len(late) == 1
    store.close()
    late[0].run()
    with pytest.raises(StorageFailedError, match="closed"):
        plain.list("k", query="all")


async def run_here(function, /, *args, **kwargs):
    return function(*args, **kwargs)
