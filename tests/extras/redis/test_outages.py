"""A server that is down, hangs, goes away in the middle of a call, and comes back."""

import asyncio
import logging
import threading

import pytest

from vectormem import KVMemory, MemoryRun, RedisKV, StorageFailedError, blocking, define_memory

KEY = "notes#global"


@pytest.fixture
def memory(own_server):
    return blocking(KVMemory(RedisKV(own_server.url, timeout=0.2)))


def slot_on(memory):
    return define_memory(name="notes", scope="global", provider=memory.target)


def texts(memory):
    return [item.text for item in memory.list(KEY)]


def test_without_a_server_a_run_starts_without_the_block_and_a_write_fails(memory, caplog):
    run = blocking(MemoryRun([slot_on(memory)]))
    with caplog.at_level(logging.WARNING, "vectormem"):
        assert run.system_prompt("Be kind.") == "Be kind."
    assert "memory 'notes': recall failed, continuing without it: the key-value store failed" in caplog.text
    with pytest.raises(StorageFailedError, match="'memory/notes#global'"):
        run.call("remember_notes", {"text": "Tea."})


def test_a_memory_that_was_made_before_the_server_works_once_it_is_there(own_server, memory):
    with pytest.raises(StorageFailedError):
        memory.add(KEY, "Tea.")
    own_server.start()
    memory.add(KEY, "Milk.")
    assert texts(memory) == ["Milk."]


def test_a_server_that_was_away_is_found_again_with_what_it_held(own_server, memory):
    own_server.start()
    memory.add(KEY, "Before.")
    own_server.stop()
    for verb in (lambda: memory.list(KEY), lambda: memory.add(KEY, "Meanwhile."), lambda: memory.clear(KEY)):
        with pytest.raises(StorageFailedError):
            verb()
    own_server.start()
    memory.add(KEY, "After.")
    assert texts(memory) == ["After.", "Before."]


def test_a_server_that_restarted_unseen_costs_no_error(own_server, memory):
    own_server.start()
    memory.add(KEY, "Before.")
    own_server.stop()
    own_server.start()
    memory.add(KEY, "After.")
    assert texts(memory) == ["After.", "Before."]


def test_a_server_that_hangs_fails_reads_and_writes_and_answers_again(own_server, memory):
    own_server.start()
    memory.add(KEY, "Before.")
    own_server.freeze()
    with pytest.raises(StorageFailedError, match=r"[Tt]imeout"):
        memory.list(KEY)
    with pytest.raises(StorageFailedError, match=r"[Tt]imeout"):
        memory.add(KEY, "Meanwhile.")
    own_server.thaw()
    memory.add(KEY, "After.")
    assert texts(memory) == ["After.", "Before."]


def test_a_run_goes_on_while_the_server_hangs(own_server, memory):
    own_server.start()
    memory.add(KEY, "Tea.")
    own_server.freeze()
    run = blocking(MemoryRun([slot_on(memory)]))
    assert run.system_prompt("Be kind.") == "Be kind."
    own_server.thaw()
    later = blocking(MemoryRun([slot_on(memory)]))
    assert later.system_prompt("Be kind.") == 'Be kind.\n\n<memory name="notes">\n- Tea.\n</memory>'


def test_a_server_that_goes_away_during_a_call_fails_the_call(own_server):
    own_server.start()
    memory = blocking(KVMemory(RedisKV(own_server.url, timeout=30), timeout=60))
    memory.add(KEY, "Before.")
    own_server.freeze()
    failed = []

    def add():
        with pytest.raises(StorageFailedError) as raised:
            memory.add(KEY, "Meanwhile.")
        failed.append(raised.value.code)

    adding = threading.Thread(target=add)
    adding.start()
    own_server.kill()
    adding.join(30)
    assert failed == ["STORAGE_FAILED"]
    own_server.start()
    assert texts(memory) == ["Before."]


def test_the_time_of_a_whole_verb_is_bounded_where_the_server_only_hangs(own_server):
    own_server.start()
    memory = KVMemory(RedisKV(own_server.url, timeout=30), timeout=0.2)
    own_server.freeze()

    async def add_some():
        adding = [memory.add(KEY, f"text {number}") for number in range(20)]
        return await asyncio.wait_for(asyncio.gather(*adding, return_exceptions=True), 10)

    assert {type(outcome) for outcome in asyncio.run(add_some())} == {StorageFailedError}
