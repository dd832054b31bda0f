"""Memories in any key-value store."""

import asyncio
import json
import sys
import threading

import pytest

from tests.conftest import DictKV, in_forked_child, texts_of
from tests.stores.kv_stores import FailingKV, PlainKV, StoppingKV
from vectormem import KVMemory, MemoryInvalidError, StorageFailedError, blocking


def test_a_key_is_one_json_document_under_memory_slash_key():
    kv = DictKV()
    item = blocking(KVMemory(kv)).add("notes#global", "Tea.", metadata={"cups": 2})
    assert list(kv.values) == ["memory/notes#global"]
    document = json.loads(kv.values["memory/notes#global"])
    assert document["version"] == 1
    assert document["key"] == "notes#global"
    assert [(one["id"], one["text"], one["metadata"]) for one in document["items"]] == [(item.id, "Tea.", {"cups": 2})]


def test_a_value_may_come_back_as_bytes():
    kv = PlainKV()
    memory = blocking(KVMemory(kv))
    memory.add("k", "Café.")
    kv.values = {key: value.encode() for key, value in kv.values.items()}
    assert texts_of(memory.list("k")) == ["Café."]


def test_a_binding_is_resolved_at_each_call():
    stores = [DictKV(), DictKV()]
    current = [0]
    memory = blocking(KVMemory(lambda: stores[current[0]]))
    memory.add("k", "In the first.")
    current[0] = 1
    assert memory.list("k") == []
    memory.add("k", "In the second.")
    current[0] = 0
    assert texts_of(memory.list("k")) == ["In the first."]


@pytest.mark.parametrize("kv", [None, 3, "redis://localhost", object(), {}])
def test_what_is_no_key_value_store_is_refused(kv):
    with pytest.raises(MemoryInvalidError, match="get, put and delete"):
        KVMemory(kv)


@pytest.mark.parametrize("bound", [None, 3, object()])
def test_a_binding_that_gives_no_store_is_refused_when_it_is_used(bound):
    memory = blocking(KVMemory(lambda: bound))
    for verb in (lambda: memory.list("k"), lambda: memory.add("k", "Tea."), lambda: memory.remove("k", "1")):
        with pytest.raises(MemoryInvalidError, match="binding"):
            verb()


def test_a_binding_that_fails_is_a_storage_error():
    def unbound():
        raise LookupError("no request is being served")

    with pytest.raises(StorageFailedError, match="no request"):
        blocking(KVMemory(unbound)).list("k")


@pytest.mark.parametrize("failing", ["get", "put"])
def test_a_failing_store_is_a_storage_error_and_the_next_call_works(failing):
    kv = FailingKV()
    memory = blocking(KVMemory(kv))
    memory.add("k", "Tea.")
    before = dict(kv.values)
    kv.failing = {failing}
    with pytest.raises(StorageFailedError, match="'memory/k': the network is down"):
        memory.add("k", "Milk.")
    assert kv.values == before
    kv.failing = set()
    memory.add("k", "Bread.")
    assert texts_of(memory.list("k")) == ["Bread.", "Tea."]


def test_a_failing_delete_keeps_the_item():
    kv = FailingKV()
    memory = blocking(KVMemory(kv))
    item = memory.add("k", "Tea.")
    kv.failing = {"delete"}
    with pytest.raises(StorageFailedError):
        memory.remove("k", item.id)
    assert texts_of(memory.list("k")) == ["Tea."]


def test_the_last_item_takes_the_value_with_it():
    kv = DictKV()
    memory = blocking(KVMemory(kv))
    memory.remove("k", memory.add("k", "Tea.").id)
    assert kv.values == {}


def test_keys_are_listed_where_the_store_can_list():
    kv = DictKV()
    kv.values["other"] = "not ours"
    memory = blocking(KVMemory(kv))
    for key in ("b", "a"):
        memory.add(key, "Tea.")
    assert memory.scope_keys() == ["a", "b"]


def test_a_key_that_was_emptied_is_not_listed():
    memory = KVMemory(DictKV())

    async def migrate_and_clear():
        await memory.add("old", "Tea.")
        await memory.copy_from("old", "new")
        await memory.clear("new")
        return await memory.scope_keys()

    assert asyncio.run(migrate_and_clear()) == ["old"]


def test_a_store_that_cannot_list_says_so_and_does_the_rest():
    memory = blocking(KVMemory(PlainKV()))
    memory.add("k", "Tea.")
    with pytest.raises(StorageFailedError, match="cannot list"):
        memory.scope_keys()
    assert texts_of(memory.list("k")) == ["Tea."]


def test_a_failing_listing_is_a_storage_error():
    with pytest.raises(StorageFailedError, match="the network is down"):
        blocking(KVMemory(FailingKV("list"))).scope_keys()


@pytest.mark.parametrize("value", ["", "{", "[1]", '{"version": 2}', b"\xff", 5])
def test_a_damaged_value_is_a_loud_error_and_stays_as_it_is(value):
    """odysseus-dev/odysseus#5831"""
    kv = PlainKV()
    kv.values["memory/k"] = value
    memory = blocking(KVMemory(kv))
    for verb in (lambda: memory.list("k"), lambda: memory.add("k", "Tea."), lambda: memory.clear("k")):
        with pytest.raises(StorageFailedError):
            verb()
    assert kv.values == {"memory/k": value}


def test_concurrent_changes_through_one_object_keep_every_item():
    memory = KVMemory(DictKV())

    async def add_all():
        await asyncio.gather(*(memory.add("k", f"text {number}") for number in range(100)))
        return await memory.list("k")

    assert texts_of(asyncio.run(add_all())) == [f"text {number}" for number in reversed(range(100))]


def test_changes_of_several_loops_and_threads_keep_every_item_also_of_new_keys():
    memory = KVMemory(DictKV())
    together = threading.Barrier(8)
    interval = sys.getswitchinterval()

    async def add(thread):
        for number in range(20):
            together.wait()
            await memory.add(f"key {number}", f"text of thread {thread}")

    threads = [threading.Thread(target=asyncio.run, args=(add(number),)) for number in range(8)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    kept = [len(asyncio.run(memory.list(f"key {number}"))) for number in range(20)]
    assert kept == [8] * 20


def test_a_cancelled_change_gives_the_key_free():
    kv = StoppingKV()
    memory = KVMemory(kv)

    async def cancel_one():
        stuck = asyncio.create_task(memory.add("k", "Given up."))
        while not kv.arrived.is_set():
            await asyncio.sleep(0)
        stuck.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stuck
        kv.go_on.set()
        await memory.add("k", "Tea.")
        return await memory.list("k")

    assert texts_of(asyncio.run(cancel_one())) == ["Tea."]


def test_a_child_forked_in_the_middle_of_a_change_does_not_hang():
    """tox-dev/filelock#635"""
    kv = StoppingKV()
    memory = KVMemory(kv)
    writer = threading.Thread(target=asyncio.run, args=(memory.add("k", "Of the parent."),))
    writer.start()
    kv.arrived.wait()

    def add_in_child():
        kv.go_on.set()
        return asyncio.run(memory.add("k", "Of the child.")).text

    try:
        assert in_forked_child(add_in_child, timeout=10) == "Of the child."
    finally:
        kv.go_on.set()
        writer.join()
