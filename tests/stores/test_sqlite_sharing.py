"""One SqliteStore in several threads, loops and forked children, and several on one file."""

import asyncio
import os
import select
import sqlite3
import threading
from contextlib import closing

import pytest

from embedders import HashEmbedder
from tests.conftest import in_forked_child, texts_of
from vectormem import SqliteMemory, SqliteStore, SqliteVectorMemory, StorageFailedError, blocking
from vectormem.stores.sqlite import connections


def run_in_threads(count, work):
    """Run `work(number)` in threads and raise what any of them raised."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def integrity(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall()


@pytest.fixture(params=["memory.db", ":memory:"])
def store(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SqliteStore(request.param) as store:
        yield store


def test_every_thread_sees_the_same_items(store):
    """coleifer/peewee#1187"""
    memory = blocking(SqliteMemory(store))
    run_in_threads(4, lambda number: memory.add("k", f"From thread {number}."))
    assert sorted(texts_of(memory.list("k"))) == [f"From thread {number}." for number in range(4)]


def test_threads_and_loops_of_their_own_keep_every_item_while_others_read(store):
    """modelcontextprotocol/servers#1819, fsspec/filesystem_spec#893"""
    memory = SqliteVectorMemory(store, embedder=HashEmbedder(16))

    def work(number):
        async def add_or_read():
            for step in range(25):
                if number < 4:
                    await memory.add("k", f"tea {number} {step}")
                else:
                    await memory.list("k", query="tea", limit=5)
                    await memory.list("k")

        asyncio.run(add_or_read())

    run_in_threads(6, work)
    kept = texts_of(asyncio.run(memory.list("k")))
    assert sorted(kept) == sorted(f"tea {number} {step}" for number in range(4) for step in range(25))
    for number in range(4):
        own = [text for text in kept if text.startswith(f"tea {number} ")]
        assert own == [f"tea {number} {step}" for step in reversed(range(25))]


def test_two_memory_stores_share_nothing():
    with SqliteStore(":memory:") as first, SqliteStore(":memory:") as second:
        blocking(SqliteMemory(first)).add("k", "Tea.")
        assert blocking(SqliteMemory(second)).list("k") == []


def test_a_memory_store_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SqliteStore(":memory:") as store:
        blocking(SqliteMemory(store)).add("k", "Tea.")
    assert list(tmp_path.iterdir()) == []


def test_a_write_of_another_store_on_the_file_is_seen_by_the_next_query(tmp_path):
    path = tmp_path / "memory.db"
    with SqliteStore(path) as one, SqliteStore(path) as two:
        first, second = (blocking(SqliteVectorMemory(store, embedder=HashEmbedder())) for store in (one, two))
        tea, milk = first.add("k", "green tea"), first.add("k", "cold milk")
        assert texts_of(second.list("k", query="tea")) == ["green tea"]
        first.upsert("k", "black coffee", id=milk.id)
        assert second.list("k", query="milk") == []
        assert texts_of(second.list("k", query="coffee")) == ["black coffee"]
        first.remove("k", tea.id)
        assert second.list("k", query="tea") == []
        first.clear("k")
        assert second.list("k", query="coffee") == []
        first.add("k", "green tea")
        assert texts_of(second.list("k", query="tea")) == ["green tea"]


def test_a_fork_does_not_wait_for_ever_for_a_writer_and_its_child_cannot_disturb_that_writer(tmp_path, monkeypatch):
    """tox-dev/filelock#635, NousResearch/hermes-agent#86085"""
    monkeypatch.setattr(connections, "_FORK_SECONDS", 0.1)
    path = tmp_path / "memory.db"
    inside, forked = threading.Event(), threading.Event()
    with SqliteStore(path, busy_seconds=0.5) as store:
        memory = blocking(SqliteMemory(store))
        memory.add("k", "Before.")

        def write_until_forked(connection):
            connection.execute("CREATE TABLE other(x)")
            inside.set()
            forked.wait(20)

        def use_in_child():
            seen = texts_of(memory.list("k"))
            with pytest.raises(StorageFailedError, match="locked"):
                memory.add("k", "Of the child.")
            return seen

        writer = threading.Thread(target=store.write, args=(write_until_forked,))
        writer.start()
        inside.wait()
        try:
            assert in_forked_child(use_in_child) == ["Before."]
        finally:
            forked.set()
            writer.join()
        memory.add("k", "Of the parent.")
        assert texts_of(memory.list("k")) == ["Of the parent.", "Before."]
    assert integrity(path) == [("ok",)]


def test_a_forked_child_that_ends_leaves_the_parents_connections_working(tmp_path):
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        for number in range(3):
            memory.add("k", f"tea of round {number}")
            assert in_forked_child(lambda: texts_of(memory.list("k", query="tea", limit=1))) == [
                f"tea of round {number}"
            ]
            in_forked_child(store.close)
        assert memory.count("k") == 3
    assert integrity(path) == [("ok",)]


def test_a_memory_store_in_a_forked_child_has_the_items_of_the_parent():
    with SqliteStore(":memory:") as store:
        memory = blocking(SqliteMemory(store))
        memory.add("k", "Tea.")
        assert in_forked_child(lambda: texts_of(memory.list("k"))) == ["Tea."]


def test_a_child_forked_while_a_thread_writes_can_write_when_that_is_done(tmp_path):
    """tox-dev/filelock#635"""
    path = tmp_path / "memory.db"
    inside = threading.Event()
    with SqliteStore(path, busy_seconds=3) as store:
        memory = blocking(SqliteMemory(store))
        memory.add("k", "Before.")

        def write_slowly(connection):
            connection.execute("CREATE TABLE other(x)")
            inside.set()
            threading.Event().wait(0.3)

        writer = threading.Thread(target=store.write, args=(write_slowly,))
        writer.start()
        inside.wait()
        try:
            in_forked_child(lambda: memory.add("k", "Of the child."))
        finally:
            writer.join()
        memory.add("k", "Of the parent.")
        assert texts_of(memory.list("k")) == ["Of the parent.", "Of the child.", "Before."]
    assert integrity(path) == [("ok",)]


def test_a_forked_child_keeps_what_it_adds_after_the_parent_has_closed_the_file(tmp_path):
    """NousResearch/hermes-agent#86085"""
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    memory = blocking(SqliteMemory(store))
    memory.add("k", "Before.")
    child_has_added, may_go_on = os.pipe(), os.pipe()

    def add_twice_in_child():
        memory.add("k", "First of the child.")
        os.write(child_has_added[1], b"x")
        select.select([may_go_on[0]], [], [], 20)
        memory.add("k", "Second of the child.")

    def close_and_add():
        select.select([child_has_added[0]], [], [], 20)
        store.close()
        with blocking(SqliteMemory(path)) as reopened:
            reopened.add("k", "Of the parent.")
        os.write(may_go_on[1], b"x")

    parent = threading.Thread(target=close_and_add)
    try:
        in_forked_child(add_twice_in_child, meanwhile=parent.start)
    finally:
        parent.join()
        for descriptor in (*child_has_added, *may_go_on):
            os.close(descriptor)
    with blocking(SqliteMemory(path)) as reopened:
        assert texts_of(reopened.list("k")) == [
            "Second of the child.",
            "Of the parent.",
            "First of the child.",
            "Before.",
        ]
    assert integrity(path) == [("ok",)]
