"""One database in many threads, event loops, processes and machines: every item is kept once, in order."""

import asyncio
import subprocess
import sys
import threading

import pytest

from embedders import HashEmbedder
from tests.conftest import in_forked_child, texts_of
from vectormem import PostgresMemory, PostgresVectorMemory, StorageFailedError, blocking
from vectormem.stores.postgres.transaction import lock


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


def test_a_text_that_many_machines_add_at_once_is_kept_once(opened):
    memories = [blocking(PostgresMemory(opened())) for _ in range(6)]
    items = []

    def work(number):
        for text in ("likes tea", "lives in Oslo"):
            items.append(memories[number].add("k", text))

    run_in_threads(6, work)
    assert sorted(texts_of(memories[0].list("k"))) == ["likes tea", "lives in Oslo"]
    assert {item.id for item in items} == {item.id for item in memories[0].list("k")}


def test_the_cap_and_the_order_hold_while_many_machines_add(opened):
    memories = [PostgresVectorMemory(opened(), embedder=HashEmbedder(16), max_items=10) for _ in range(4)]

    async def work(memory, writer):
        for number in range(15):
            await memory.add("k", f"{writer} says {number}")

    async def main():
        await asyncio.gather(*(work(memory, writer) for writer, memory in enumerate(memories)))
        return await memories[0].list("k")

    items = asyncio.run(main())
    assert len(items) == 10
    for writer in range(4):
        said = [int(item.text.split()[-1]) for item in items if item.text.startswith(f"{writer} ")]
        assert said == list(range(14, 14 - len(said), -1))


def test_an_upsert_by_metadata_that_many_machines_make_at_once_leaves_one_item(opened):
    memories = [PostgresMemory(opened()) for _ in range(4)]

    async def main():
        await asyncio.gather(
            *(
                memory.upsert_matching("k", f"trust {n}", metadata={"topic": "trust"}, fields=["topic"])
                for n, memory in enumerate(memories)
            )
        )
        return await memories[0].count("k")

    assert asyncio.run(main()) == 1


def test_a_key_that_is_emptied_while_others_add_to_it_is_whole(opened):
    memories = [PostgresMemory(opened()) for _ in range(4)]

    async def work(memory, writer):
        for number in range(20):
            item = await memory.add("k", f"{writer} says {number}")
            assert await memory.remove("k", item.id)

    async def main():
        await asyncio.gather(*(work(memory, writer) for writer, memory in enumerate(memories)))
        return await memories[0].count("k"), await memories[0].scope_keys()

    assert asyncio.run(main()) == (0, [])


def test_different_keys_do_not_wait_for_each_other(opened):
    one, other = opened(), opened(wait_seconds=5.0)
    memory, entered, leave = blocking(PostgresMemory(other)), threading.Event(), threading.Event()
    blocking(PostgresMemory(one)).add("held", "here")

    def hold(connection):
        lock(connection, "memory_keys", "held")
        connection.query("SELECT 1", ())
        entered.set()
        leave.wait(20)

    holder = threading.Thread(target=one.write, args=(hold,))
    holder.start()
    entered.wait(20)
    try:
        memory.add("free", "there")
        assert texts_of(memory.list("held")) == ["here"]
    finally:
        leave.set()
        holder.join()


def test_a_change_waits_for_the_key_only_so_long(opened):
    one, other = opened(), opened(wait_seconds=0.5)
    memory, entered, leave = blocking(PostgresMemory(other)), threading.Event(), threading.Event()
    memory.add("held", "here")

    def hold(connection):
        lock(connection, "memory_keys", "held")
        connection.query("SELECT 1", ())
        entered.set()
        leave.wait(20)

    holder = threading.Thread(target=one.write, args=(hold,))
    holder.start()
    entered.wait(20)
    try:
        with pytest.raises(StorageFailedError, match="did not answer in time"):
            memory.add("held", "there")
    finally:
        leave.set()
        holder.join()
    memory.add("held", "there")
    assert texts_of(memory.list("held")) == ["there", "here"]


def test_a_pool_that_is_in_use_says_so(opened):
    store, entered, leave = opened(pool_size=1, wait_seconds=0.5), threading.Event(), threading.Event()

    def hold(connection):
        entered.set()
        leave.wait(20)

    holder = threading.Thread(target=store.read, args=(hold,))
    holder.start()
    entered.wait(20)
    with pytest.raises(StorageFailedError, match=r"all 1 connections .* were in use for 0.5 s"):
        store.read(lambda connection: None)
    leave.set()
    holder.join()
    store.read(lambda connection: None)


def test_threads_and_loops_of_their_own_keep_every_item(store):
    memory = PostgresVectorMemory(store, embedder=HashEmbedder(16))

    def work(number):
        async def main():
            for step in range(5):
                await memory.add("k", f"{number} says {step}")
                await memory.list("k", query="says")

        asyncio.run(main())

    run_in_threads(6, work)
    assert len(blocking(memory).list("k")) == 30


def test_a_cancelled_call_leaves_no_lock_and_no_half_item(store):
    memory = PostgresVectorMemory(store, embedder=HashEmbedder(16))

    async def main():
        for pause in (0, 0.001, 0.002, 0.004, 0.008):
            task = asyncio.create_task(memory.add("k", f"after {pause}"))
            await asyncio.sleep(pause)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await memory.add("k", "at last")
        return await memory.list("k", limit=1), await memory.list("k"), await memory.reindex()

    newest, items, stale = asyncio.run(main())
    assert newest[0] in items
    assert stale == 0
    assert "at last" in texts_of(items)


def test_a_forked_child_and_its_parent_go_on_with_one_store(store):
    memory = blocking(PostgresVectorMemory(store, embedder=HashEmbedder(16)))
    memory.add("k", "from before")

    def work():
        memory.add("k", "from the child")
        return sorted(texts_of(memory.list("k")))

    found = in_forked_child(work, meanwhile=lambda: memory.add("k", "from the parent"))
    assert {"from before", "from the child"} <= set(found)
    assert sorted(texts_of(memory.list("k"))) == ["from before", "from the child", "from the parent"]
    assert len(memory.list("k", query="from")) == 3


def test_a_child_that_closes_the_store_leaves_the_parents_connections_alone(store):
    memory = blocking(PostgresMemory(store))
    memory.add("k", "likes tea")
    pid = store.read(lambda db: db.info.backend_pid)
    in_forked_child(store.close)
    assert store.read(lambda db: db.info.backend_pid) == pid
    assert texts_of(memory.list("k")) == ["likes tea"]


PROCESS = """
import sys
from embedders import HashEmbedder
from vectormem import PostgresStore, PostgresVectorMemory, blocking

dsn, schema, name = sys.argv[1:]
with PostgresStore(dsn, schema=schema, pool_size=2) as store:
    memory = blocking(PostgresVectorMemory(store, embedder=HashEmbedder(16), max_items=None))
    for number in range(20):
        memory.add("k", f"{name} says {number}")
        memory.add("k", f"all say {number}")
"""


def test_several_processes_that_start_at_once_keep_every_item(dsn, opened, schema):
    running = [subprocess.Popen([sys.executable, "-c", PROCESS, dsn, schema, name]) for name in ("ada", "bob", "eve")]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    memory = blocking(PostgresVectorMemory(opened(), embedder=HashEmbedder(16), max_items=None))
    texts = texts_of(memory.list("k"))
    assert len(texts) == len(set(texts)) == 80
    assert len(memory.list("k", query="say says", limit=100)) == 80


ENDLESS = """
import itertools, sys
from embedders import HashEmbedder
from vectormem import PostgresStore, PostgresVectorMemory, blocking

with PostgresStore(sys.argv[1], schema=sys.argv[2]) as store:
    memory = blocking(PostgresVectorMemory(store, embedder=HashEmbedder(16), max_items=50))
    for number in itertools.count():
        memory.add_many("k", [f"{number} says {part}" for part in range(7)])
        print(number, flush=True)
"""


def test_a_process_that_is_killed_while_it_writes_leaves_whole_changes_and_no_lock(dsn, opened, schema):
    memory = blocking(PostgresVectorMemory(opened(), embedder=HashEmbedder(16), max_items=50))
    for last in ("3", "8", "12"):
        command = [sys.executable, "-c", ENDLESS, dsn, schema]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            while process.stdout.readline().strip() != last:
                pass
            process.kill()
        memory.add("k", f"after the end at {last}")
        items = memory.list("k")
        assert memory.count("k") == len(items) <= 50
        assert items[0].text == f"after the end at {last}"
        assert memory.reindex() == 0
        memory.clear("k")


def test_reindexing_beside_writers_ends_with_every_item_of_the_new_embedder(opened):
    old = PostgresVectorMemory(opened(), embedder=HashEmbedder(16), max_items=None)
    new = PostgresVectorMemory(opened(), embedder=HashEmbedder(32), max_items=None)

    async def write():
        for number in range(30):
            await new.add("k", f"written meanwhile {number}")
            if number % 3 == 0:
                await new.remove("k", (await new.list("k"))[-1].id)

    async def main():
        await old.add_many("k", [f"old {number}" for number in range(300)])
        await asyncio.gather(new.reindex("k"), write())
        await new.reindex("k")
        found = await new.list("k", query="old", limit=1000)
        return await new.count("k"), await new.reindex("k"), sum(item.text.startswith("old ") for item in found)

    count, stale, found = asyncio.run(main())
    assert (count, stale) == (320, 0)
    assert found == 290


def test_reindexing_by_two_machines_at_once_embeds_to_one_result(opened):
    seed = blocking(PostgresVectorMemory(opened(), embedder=HashEmbedder(16)))
    seed.add_many("k", [f"text {number}" for number in range(250)])
    memories = [PostgresVectorMemory(opened(), embedder=HashEmbedder(32)) for _ in range(2)]

    async def main():
        return await asyncio.gather(*(memory.reindex() for memory in memories))

    changed = asyncio.run(main())
    assert sum(changed) == 250
    assert blocking(memories[0]).reindex() == 0
