"""Faults of event loops: blocked ones, closed ones, cancelled calls."""

import asyncio
import threading
from contextlib import closing
from functools import partial

import apsw
import pytest

from embedders import HashEmbedder, as_embedder
from tests.conftest import FixedEmbedder, texts_of
from vectormem import FileMemory, SqliteMemory, SqliteVectorMemory, blocking
from vectormem.stores.file.lock import FileLocks

PATIENCE = 20


async def finish_while_the_loop_runs(call, let_go):
    """Await a call that can end only after the loop has run on for a while, and then lets it go."""
    task = asyncio.create_task(call)
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert not task.done()
    let_go()
    return await asyncio.wait_for(task, PATIENCE)


def test_a_sync_embedder_does_not_hold_up_the_loop(every_vector_place):
    """MihaiBuilds/memory-vault#116"""
    go_on = threading.Event()

    def embed(texts):
        assert go_on.wait(PATIENCE), "the loop was blocked"
        return [[1.0, 0.0] for _ in texts]

    memory = every_vector_place.open(embedder=as_embedder(embed, id="slow"))
    item = asyncio.run(finish_while_the_loop_runs(memory.add("k", "tea"), go_on.set))
    assert item.text == "tea"


def test_a_locked_file_does_not_hold_up_the_loop(tmp_path):
    """MihaiBuilds/memory-vault#116"""
    memory = FileMemory(tmp_path)
    blocking(memory).add("k", "one")
    holding, go_on = threading.Event(), threading.Event()

    def hold():
        with FileLocks().hold(tmp_path / "k.json.lock"):
            holding.set()
            go_on.wait(PATIENCE)

    holder = threading.Thread(target=hold)
    holder.start()
    holding.wait()
    asyncio.run(finish_while_the_loop_runs(memory.add("k", "two"), go_on.set))
    holder.join()
    assert texts_of(blocking(memory).list("k")) == ["two", "one"]


@pytest.mark.parametrize("kind", [SqliteMemory, partial(SqliteVectorMemory, embedder=HashEmbedder())])
def test_a_locked_database_does_not_hold_up_the_loop(kind, tmp_path):
    """MihaiBuilds/memory-vault#116"""
    path = tmp_path / "memory.db"
    memory = kind(path)
    with blocking(memory) as plain, closing(apsw.Connection(str(path))) as other:
        plain.add("k", "one")
        other.execute("BEGIN IMMEDIATE")
        asyncio.run(finish_while_the_loop_runs(memory.add("k", "two"), lambda: other.execute("COMMIT")))
        assert texts_of(plain.list("k")) == ["two", "one"]


def test_one_memory_serves_one_loop_after_another_and_another_thread(every_place):
    """bytedance/deer-flow#2615"""
    memory = every_place.open()
    asyncio.run(memory.add("k", "tea 1"))
    asyncio.run(memory.add("k", "tea 2"))
    thread = threading.Thread(target=asyncio.run, args=(memory.add("k", "tea 3"),))
    thread.start()
    thread.join()
    assert texts_of(asyncio.run(memory.list("k", query="tea"))) == ["tea 3", "tea 2", "tea 1"]
    assert texts_of(asyncio.run(memory.list("k"))) == ["tea 3", "tea 2", "tea 1"]


def test_calls_at_the_same_time_keep_every_item(every_place):
    """modelcontextprotocol/servers#1819"""
    memory = every_place.open()

    async def main():
        await asyncio.gather(*(memory.add("k", f"tea {number}") for number in range(40)))
        await asyncio.gather(*(memory.add(f"key {number % 5}", f"tea {number}") for number in range(40)))
        return [await memory.count(key) for key in ("k", *(f"key {number}" for number in range(5)))]

    assert asyncio.run(main()) == [40, 8, 8, 8, 8, 8]


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8])
def test_a_cancelled_call_leaves_no_lock_and_no_half_item(every_place, turns):
    """tox-dev/filelock#575"""
    memory = every_place.open()

    async def main():
        task = asyncio.create_task(memory.add_many("k", ["tea 1", "tea 2"]))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await memory.add("k", "tea 3")

    asyncio.run(main())  # ends when its threads have ended
    listed = texts_of(blocking(memory).list("k"))
    assert sorted(listed) in (["tea 3"], ["tea 1", "tea 2", "tea 3"])
    assert texts_of(blocking(memory).list("k", query="tea")) == listed


def test_a_call_that_is_cancelled_while_it_embeds_stores_nothing(every_vector_place):
    """MihaiBuilds/memory-vault#116"""

    class Stopping(FixedEmbedder):
        async def embed(self, texts, *, kind="document"):
            if "stop" in texts:
                embedding.set()
                await asyncio.Event().wait()
            return await super().embed(texts, kind=kind)

    memory = every_vector_place.open(embedder=Stopping({}, default=[1, 0]))

    async def main():
        task = asyncio.create_task(memory.add("k", "stop"))
        await embedding.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await memory.add("k", "go")
        return texts_of(await memory.list("k"))

    embedding = asyncio.Event()
    assert asyncio.run(main()) == ["go"]


def test_a_memory_leaves_no_thread_of_its_own_behind(every_place):
    """ogx-ai/ogx#4587"""
    memory = every_place.open()
    asyncio.run(memory.add("k", "tea"))
    asyncio.run(memory.list("k", query="tea"))
    before = {thread.name for thread in threading.enumerate() if not thread.daemon} - {"MainThread"}
    asyncio.run(memory.aclose())
    assert {thread.name for thread in threading.enumerate() if not thread.daemon} - {"MainThread"} <= before
