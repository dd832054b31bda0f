"""Faults of threads, processes and machines: sharing one object, missing extensions, network disks."""

import os
import subprocess
import sys
import threading
from contextlib import closing

import apsw
import pytest

from embedders import HashEmbedder
from tests.conftest import in_forked_child, texts_of
from vectormem import SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores.sqlite import search


def test_threads_may_add_while_others_list_and_search(every_place):
    """fsspec/filesystem_spec#893, MitchellChu/torndsession#18, modelcontextprotocol/servers#1819"""
    memory = blocking(every_place.open())
    errors = []

    def work(number):
        try:
            for step in range(20):
                if number < 4:
                    memory.add(f"key {step % 3}", f"tea {number} {step}")
                else:
                    memory.list("key 0", query="tea", limit=3)
                    memory.list("key 1")
                    memory.scope_keys()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
    assert sum(memory.count(f"key {number}") for number in range(3)) == 80


def test_keys_that_come_and_go_disturb_no_listing(every_place):
    """fsspec/filesystem_spec#893"""
    memory = blocking(every_place.open())
    errors, stop = [], threading.Event()

    def come_and_go(number):
        for step in range(15):
            memory.clear(f"{number} {step}") if memory.add(f"{number} {step}", "tea") else None
        stop.set()

    def look():
        try:
            while not stop.is_set():
                memory.scope_keys()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(3)]
    threads += [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert memory.scope_keys() == []


def test_a_forked_child_adds_and_the_parent_goes_on(every_place):
    """tox-dev/filelock#635, NousResearch/hermes-agent#86085"""
    memory = blocking(every_place.open())
    memory.add("k", "tea before")

    def add_in_child():
        memory.add("k", "tea of the child")
        return texts_of(memory.list("k", query="tea"))

    assert in_forked_child(add_in_child) == ["tea of the child", "tea before"]
    memory.add("k", "tea of the parent")
    shared = every_place.kind in ("file", "sqlite", "sqlite-vectors")
    expected = ["tea of the parent", *["tea of the child"] * shared, "tea before"]
    assert texts_of(memory.list("k", query="tea")) == expected


@pytest.mark.parametrize("missing", ["enable_load_extension", "load_extension"])
def test_a_sqlite_without_extensions_searches_all_the_same(tmp_path, monkeypatch, missing):
    """doobidoo/mcp-memory-service#97, asg017/sqlite-vec#83"""
    monkeypatch.setattr(search, "_LOADED_AT_ONCE", 0)

    def refuse(*args):
        raise AttributeError(missing)

    class WithoutExtensions(apsw.Connection):
        enable_load_extension = load_extension = refuse

    monkeypatch.setattr("vectormem.stores.sqlite.connection.apsw.Connection", WithoutExtensions)
    with SqliteStore(tmp_path / "memory.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        memory.add_many("k", ["green tea", "black tea with milk", "bread"])
        assert texts_of(memory.list("k", query="tea", limit=2)) == ["green tea", "black tea with milk"]


def test_a_machine_without_sqlite_vec_searches_all_the_same(tmp_path, monkeypatch):
    """doobidoo/mcp-memory-service#97"""
    monkeypatch.setattr(search, "_LOADED_AT_ONCE", 0)
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with SqliteStore(tmp_path / "memory.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        memory.add_many("k", ["green tea", "bread"])
        assert texts_of(memory.list("k", query="tea")) == ["green tea"]


def test_a_half_read_result_keeps_no_read_transaction_open(tmp_path):
    """DeusData/codebase-memory-mcp#1083"""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        memory.add_many("k", [f"tea {number}" for number in range(50)])
        half_read = iter(memory.list("k", query="tea"))
        next(half_read)
        with closing(apsw.Connection(str(path))) as other:
            ((busy, _, _),) = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert busy == 0
        assert (tmp_path / "memory.db-wal").stat().st_size == 0


FORKING = """
import asyncio, os, signal, sys, threading
from embedders import HashEmbedder
from vectormem import *

folder, kind = sys.argv[1:]
memory = {
    "memory": lambda: InMemoryMemory(),
    "memory-vectors": lambda: InMemoryVectorMemory(embedder=HashEmbedder()),
    "file": lambda: FileMemory(folder),
    "sqlite": lambda: SqliteMemory(folder + "/memory.db"),
    "sqlite-vectors": lambda: SqliteVectorMemory(folder + "/memory.db", embedder=HashEmbedder()),
}[kind]()
stop = threading.Event()
sys.setswitchinterval(1e-5)

async def come_and_go(number):
    while not stop.is_set():
        await memory.add(f"key {number}", "green tea")
        await memory.list(f"key {number}", query="tea")
        await memory.clear(f"key {number}")

threads = [threading.Thread(target=asyncio.run, args=(come_and_go(number),)) for number in range(3)]
for thread in threads:
    thread.start()
for _ in range(15):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # should it hang, it does not outlive the test
        blocking(memory).add("of a child", "tea")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
print(len(blocking(memory).list("of a child")), blocking(memory).scope_keys())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("kind", ["memory", "memory-vectors", "file", "sqlite", "sqlite-vectors"])
def test_forking_in_the_middle_of_everything_hangs_neither_parent_nor_child(kind, tmp_path):
    """tox-dev/filelock#635"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING, str(tmp_path), kind],
        capture_output=True,
        text=True,
        timeout=60,
    )
    expected = "0 []\n" if kind.startswith("memory") else "1 ['of a child']\n"
    assert (done.stdout, done.stderr) == (expected, "")


FIRST_LOOP = """
import asyncio, os, signal, sys, threading
from vectormem import InMemoryMemory, blocking

memory, making, forking = InMemoryMemory(), threading.Event(), threading.Event()

def make_the_first_loop():
    with asyncio.events._lock:  # as asyncio does when the first event loop of a process is made
        making.set()
        forking.wait(0.5)

threading.Thread(target=make_the_first_loop).start()
making.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    blocking(memory).add("k", "tea")
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_while_the_first_event_loop_is_made_hangs_no_child(tmp_path):
    """tox-dev/filelock#635"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FIRST_LOOP],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
