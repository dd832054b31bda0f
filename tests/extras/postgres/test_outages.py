"""A server that is down, breaks off, falls silent and comes back: runs go on, writes fail in time, all recovers."""

import asyncio
import logging
import threading
import time
import traceback

import pytest
from psycopg.conninfo import make_conninfo

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import (
    InMemoryMemory,
    MemoryContext,
    MemoryRun,
    PostgresMemory,
    PostgresStore,
    PostgresVectorMemory,
    StorageFailedError,
    blocking,
    define_memory,
)
from vectormem.stores.postgres.transaction import lock


@pytest.fixture
def distant(opened, proxy):
    """A store that reaches the server through the proxy, and does not wait for long."""
    return opened(dsn=proxy.dsn, wait_seconds=1.0, connect_seconds=2.0)


def failing(call):
    """Return the error of a call that has to fail, checked to hold no password."""
    began = time.monotonic()
    with pytest.raises(StorageFailedError) as caught:
        call()
    assert time.monotonic() - began < 60  # bounded, whatever the machine does beside
    assert "s3cret-Word" not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_a_server_that_is_down_at_start_is_an_error_that_names_it(proxy):
    proxy.close()
    message = failing(lambda: PostgresStore(proxy.dsn, connect_seconds=2.0))
    assert "cannot be reached" in message
    assert str(proxy.port) in message


def test_a_server_that_accepts_and_says_nothing_is_given_up(proxy):
    proxy.block()
    assert "cannot be reached" in failing(lambda: PostgresStore(proxy.dsn, connect_seconds=2.0))


def test_a_wrong_password_is_an_error_without_it(proxy):
    dsn = make_conninfo(proxy.dsn, user="no_such_role_at_all")
    assert "no_such_role_at_all" in failing(lambda: PostgresStore(dsn))


def test_a_run_goes_on_without_the_block_and_the_next_one_has_it_again(distant, proxy, caplog):
    slot = define_memory(name="facts", scope="global", provider=PostgresMemory(distant))
    other = define_memory(name="notes", scope="global", provider=InMemoryMemory())
    blocking(slot.provider).add("facts#global", "likes tea")
    blocking(other.provider).add("notes#global", "is here")

    def block():
        return blocking(MemoryRun([slot, other], MemoryContext())).block()

    proxy.close()
    with caplog.at_level(logging.WARNING, "vectormem"):
        assert block() == '<memory name="notes">\n- is here\n</memory>'
    assert "memory 'facts': recall failed" in caplog.text
    assert "s3cret-Word" not in caplog.text
    proxy.open()
    assert "- likes tea" in block()


def test_a_server_that_falls_silent_is_an_error_in_time(distant, proxy):
    memory = blocking(PostgresMemory(distant))
    memory.add("k", "likes tea")
    proxy.block()
    assert "silent for 1 s" in failing(lambda: memory.add("k", "likes milk"))
    proxy.unblock()
    memory.add("k", "likes water")
    assert texts_of(memory.list("k")) in (["likes water", "likes tea"], ["likes water", "likes milk", "likes tea"])


def test_idle_connections_that_were_lost_are_replaced_without_an_error(distant, proxy):
    memory = blocking(PostgresVectorMemory(distant, embedder=HashEmbedder()))
    memory.add("k", "likes tea")
    proxy.cut()
    assert texts_of(memory.list("k", query="tea")) == ["likes tea"]
    proxy.cut()
    memory.add("k", "likes milk")
    assert texts_of(memory.list("k")) == ["likes milk", "likes tea"]


def test_backends_that_an_administrator_ends_are_replaced_without_an_error(store, admin):
    memory = blocking(PostgresMemory(store))
    memory.add("k", "likes tea")
    for _ in range(3):
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name='vectormem' AND pid<>pg_backend_pid()"
        )
        assert texts_of(memory.list("k")) == ["likes tea"]


def test_a_connection_lost_before_the_commit_stores_nothing_and_the_write_is_done_again(distant, proxy):
    memory = blocking(PostgresVectorMemory(distant, embedder=HashEmbedder()))
    memory.add("k", "likes tea")
    proxy.cut_at(b"pg_advisory_xact_lock")
    item = memory.add("k", "likes milk")
    assert proxy.seen.is_set()
    assert [one.id for one in memory.list("k", limit=1)] == [item.id]
    assert memory.count("k") == 2


def test_a_connection_lost_in_the_middle_of_a_write_is_an_error_and_nothing_or_all_is_stored(distant, proxy):
    memory = blocking(PostgresMemory(distant))
    memory.add("k", "likes tea")
    proxy.cut_at(b"\0COMMIT\0")
    outcome = failing(lambda: memory.add("k", "likes milk"))
    assert proxy.seen.is_set()
    assert "do it again" in outcome
    assert texts_of(memory.list("k")) in (["likes tea"], ["likes milk", "likes tea"])
    memory.add("k", "likes milk")
    assert texts_of(memory.list("k")) == ["likes milk", "likes tea"]


def test_a_write_while_the_server_is_down_fails_and_works_when_it_is_back(distant, proxy):
    memory = blocking(PostgresMemory(distant))
    memory.add("k", "likes tea")
    proxy.close()
    for _ in range(6):  # more often than there are places in the pool
        assert "cannot be reached" in failing(lambda: memory.add("k", "likes milk"))
    proxy.open()
    memory.add("k", "likes milk")
    assert texts_of(memory.list("k")) == ["likes milk", "likes tea"]


def test_a_backend_that_is_ended_while_a_call_waits_is_replaced_and_the_call_done_again(opened, admin):
    holding, waiting = opened(), opened()
    memory, entered, leave = blocking(PostgresMemory(waiting)), threading.Event(), threading.Event()
    memory.add("k", "likes tea")

    def hold(connection):
        lock(connection, "memory_keys", "k")
        connection.query("SELECT 1", ())
        entered.set()
        leave.wait(30)

    holder = threading.Thread(target=holding.write, args=(hold,))
    holder.start()
    entered.wait(30)
    added = []
    adder = threading.Thread(target=lambda: added.append(memory.add("k", "likes milk")))
    adder.start()
    while not admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name='vectormem' AND wait_event_type='Lock'"
    ).fetchall():
        pass
    leave.set()
    holder.join()
    adder.join()
    assert texts_of(memory.list("k")) == ["likes milk", "likes tea"]
    assert [item.text for item in added] == ["likes milk"]


def test_a_program_that_vanishes_in_a_change_holds_the_key_no_longer_than_the_wait(opened):
    vanishing, other = opened(wait_seconds=0.5), opened()
    memory = blocking(PostgresMemory(other))
    memory.add("k", "likes tea")

    def vanish(connection):
        lock(connection, "memory_keys", "k")
        connection.query("SELECT 1", ())
        memory.add("k", "likes milk")  # waits until the server has ended the idle transaction

    with pytest.raises(StorageFailedError):
        vanishing.write(vanish)
    assert texts_of(memory.list("k")) == ["likes milk", "likes tea"]


def test_a_slow_server_holds_up_no_thread_of_the_program(distant, proxy):
    memory = PostgresMemory(distant)

    async def main():
        await memory.add("k", "likes tea")
        proxy.block()
        calls = [asyncio.create_task(memory.list("k")) for _ in range(40)]
        await asyncio.sleep(0)
        assert await asyncio.to_thread(lambda: "free") == "free"
        proxy.unblock()
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(main())


def test_a_closed_store_says_so(store):
    memory = blocking(PostgresMemory(store))
    store.close()
    store.close()
    with pytest.raises(StorageFailedError, match="is closed"):
        memory.add("k", "likes tea")
