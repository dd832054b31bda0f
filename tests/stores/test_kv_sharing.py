"""Key-value stores that several processes change, that do not answer, and that list their keys in pages."""

import asyncio
import logging

import pytest

from tests.conftest import DictKV, texts_of
from tests.stores.kv_stores import ComparingKV, HangingKV, WorkersKV
from vectormem import KVMemory, MemoryInvalidError, MemoryRun, StorageFailedError, blocking, define_memory


def test_a_change_is_made_again_where_another_one_came_first():
    kv = ComparingKV(meanwhile=lambda: KVMemory(kv).add("k", "Of another process."))
    memory = blocking(KVMemory(kv))
    memory.add("k", "Of this one.")
    assert texts_of(memory.list("k")) == ["Of this one.", "Of another process."]
    assert kv.tries == 3


def test_what_another_process_stored_meanwhile_is_not_stored_twice():
    kv = ComparingKV(meanwhile=lambda: KVMemory(kv, new_id=lambda: "theirs").add("k", "Tea."))
    assert blocking(KVMemory(kv, new_id=lambda: "ours")).add("k", "Tea.").id == "theirs"


def test_a_removal_is_decided_on_what_is_there_at_last():
    """Two processes remove one item: one of them does it, and says so."""
    kv = ComparingKV()
    memory = blocking(KVMemory(kv))
    item = memory.add("k", "Tea.")
    answers = []

    async def removed_by_another():
        answers.append(await KVMemory(kv).remove("k", item.id))

    kv.meanwhile = removed_by_another
    answers.append(memory.remove("k", item.id))
    assert answers == [True, False]
    assert kv.values == {}


def test_an_item_key_is_decided_inside_the_change():
    kv = ComparingKV()

    def remembering(value):
        slot = define_memory(
            name="facts",
            scope="global",
            provider=KVMemory(kv),
            item_schema={"type": "object", "properties": {"topic": {}, "value": {}}},
            item_key="topic",
        )
        return MemoryRun([slot]).call("remember_facts", {"topic": "language", "value": value})

    kv.meanwhile = lambda: remembering("French")
    assert asyncio.run(remembering("English"))["replaced"] is True
    assert texts_of(blocking(KVMemory(kv)).list("facts#global")) == ['{"topic":"language","value":"English"}']


def test_many_objects_on_one_store_that_compares_keep_every_item():
    kv = ComparingKV()

    async def add_all():
        await asyncio.gather(*(KVMemory(kv).add("k", f"text {number}") for number in range(30)))
        return await KVMemory(kv).list("k")

    assert sorted(texts_of(asyncio.run(add_all()))) == sorted(f"text {number}" for number in range(30))


def test_a_change_that_changes_nothing_writes_nothing():
    class Counting(DictKV):
        writes = 0

        async def put(self, key, value):
            self.writes += 1
            await super().put(key, value)

    kv = Counting()
    memory = blocking(KVMemory(kv))
    memory.add("k", "Tea.", metadata={"cups": 2, "a": 1.0})
    memory.add("k", "Tea.")
    assert memory.remove("k", "no such id") is False
    assert kv.writes == 1


@pytest.mark.parametrize("hanging", ["get", "put"])
def test_a_store_that_does_not_answer_fails_the_write_in_time(hanging):
    memory = blocking(KVMemory(HangingKV(hanging), timeout=0.01))
    with pytest.raises(StorageFailedError, match=r"no answer on 'memory/k' within 0\.01 s"):
        memory.add("k", "Tea.")


def test_writes_that_wait_for_one_that_hangs_fail_in_time_too():
    """One after the other they would need ten times what the test gives them."""
    memory = KVMemory(HangingKV("put"), timeout=0.5)

    async def add_some():
        adding = [memory.add("k", f"text {number}") for number in range(100)]
        return await asyncio.wait_for(asyncio.gather(*adding, return_exceptions=True), 5)

    assert {type(outcome) for outcome in asyncio.run(add_some())} == {StorageFailedError}


def test_after_a_write_that_hung_the_next_one_works():
    kv = HangingKV("put")
    memory = blocking(KVMemory(kv, timeout=0.01))
    with pytest.raises(StorageFailedError):
        memory.add("k", "Lost.")
    kv.hanging = set()
    memory.add("k", "Tea.")
    assert texts_of(memory.list("k")) == ["Tea."]


def test_a_run_goes_on_without_the_block_of_a_store_that_does_not_answer(caplog):
    slot = define_memory(name="notes", scope="global", provider=KVMemory(HangingKV("get"), timeout=0.01))
    with caplog.at_level(logging.WARNING, "vectormem"):
        assert asyncio.run(MemoryRun([slot]).system_prompt("Be kind.")) == "Be kind."
    assert "memory 'notes': recall failed, continuing without it: the key-value store gave no answer" in caplog.text


def test_a_timeout_of_the_store_itself_keeps_its_own_message():
    class Slow(DictKV):
        async def get(self, key):
            raise TimeoutError

    with pytest.raises(StorageFailedError, match="failed on 'memory/k': TimeoutError"):
        blocking(KVMemory(Slow())).list("k")


@pytest.mark.parametrize("timeout", [0, -1, True, "10", float("nan"), float("inf")])
def test_a_timeout_is_a_number_of_seconds_or_none(timeout):
    with pytest.raises(MemoryInvalidError, match="timeout"):
        KVMemory(DictKV(), timeout=timeout)


def test_the_pages_of_a_workers_namespace_are_all_read():
    memory = blocking(KVMemory(lambda: kv))
    kv = WorkersKV()
    for key in ("e", "b", "a", "d", "c"):
        memory.add(key, "Tea.")
    kv.values["other"] = "not ours"
    assert memory.scope_keys() == ["a", "b", "c", "d", "e"]


def test_a_namespace_without_keys_lists_none():
    assert blocking(KVMemory(WorkersKV())).scope_keys() == []


def test_listing_many_keys_is_bounded_key_by_key_and_not_as_a_whole():
    class Slow(DictKV):
        async def get(self, key):
            await asyncio.sleep(0.01)
            return await super().get(key)

    kv = Slow()
    memory = blocking(KVMemory(kv, timeout=0.2))
    for number in range(30):
        memory.add(f"{number:02}", "Tea.")
    assert memory.scope_keys() == [f"{number:02}" for number in range(30)]
