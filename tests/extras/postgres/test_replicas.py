"""A streaming replica: it serves what the primary stored, refuses to store, and takes over when the primary dies."""

import logging
import threading
import time
from contextlib import contextmanager

import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from tests.extras.postgres.servers import servers
from vectormem import ChatStorage, PostgresMemory, PostgresStore, PostgresVectorMemory, StorageFailedError, blocking
from vectormem.stores.postgres import search
from vectormem.testing import ScriptedEmbedder

BOTH = "postgresql://postgres@/postgres?host={},{}&target_session_attrs={}"


def facts(store):
    embedder = HashEmbedder(2000)  # so many that no two of the words here share one
    return blocking(PostgresVectorMemory(store, embedder=embedder, max_items=None))


def catch_up(primary, replica):
    """Wait until the replica shows what the primary has stored."""
    ((position,),) = primary.query("SELECT pg_current_wal_flush_lsn()")
    replica.wait_until("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", position)


@pytest.fixture(scope="module")
def pair():
    with servers() as start:
        primary = start("primary")
        yield primary, start.replica(primary, "standby")


@pytest.fixture
def stores(pair):
    """A store on the primary, with tables, and one on the replica."""
    primary, replica = pair
    with PostgresStore(primary.dsn, pool_size=4) as writing:
        catch_up(primary, replica)
        with PostgresStore(replica.dsn, pool_size=4) as reading:
            yield writing, reading
    primary.query("DROP SCHEMA vectormem CASCADE")
    catch_up(primary, replica)


def test_a_replica_serves_lists_searches_and_chats_of_what_the_primary_stored(pair, stores):
    writing, reading = stores
    written = facts(writing).add_many("k", ["likes tea", "lives in Oslo"], metadata={"n": 1})
    chat = blocking(ChatStorage(writing, embedder=HashEmbedder()))
    chat.save_message("c", "user", "Where did we hide the spare key?")
    catch_up(*pair)
    memory = facts(reading)
    assert list(memory.list("k")) == list(written)[::-1]
    assert list(memory.list("k", query="tea")) == list(facts(writing).list("k", query="tea"))
    assert texts_of(memory.list("k", query="tea")) == ["likes tea"]
    assert (memory.count("k"), memory.scope_keys(), memory.get("k", written[0].id)) == (2, ["k"], written[0])
    found = blocking(ChatStorage(reading, embedder=HashEmbedder())).search_messages("the spare key")
    assert [match.message.content for match in found] == ["Where did we hide the spare key?"]


def writes(store):
    """Return every verb that writes, with the id of an item that there is."""
    memory, chat = facts(store), blocking(ChatStorage(store, embedder=HashEmbedder()))
    return {
        "add": lambda item: memory.add("k", "likes milk"),
        "add_many": lambda item: memory.add_many("new", ["likes milk"]),
        "upsert": lambda item: memory.upsert("k", "likes milk", id=item.id),
        "remove": lambda item: memory.remove("k", item.id),
        "clear": lambda item: memory.clear("k"),
        "restore": lambda item: memory.restore("other", [item]),
        "reindex": lambda item: blocking(PostgresVectorMemory(store, embedder=HashEmbedder(8))).reindex("k"),
        "save_message": lambda item: chat.save_message("c", "user", "Hello"),
    }


@pytest.mark.parametrize("verb", ["add", "add_many", "upsert", "remove", "clear", "restore", "reindex", "save_message"])
def test_a_write_to_a_replica_is_refused_and_says_what_to_do(pair, stores, verb):
    item = facts(stores[0]).add("k", "likes tea")
    catch_up(*pair)
    with pytest.raises(StorageFailedError, match=r"is read-only: name the primary, or add target_session_attrs"):
        writes(stores[1])[verb](item)
    assert texts_of(facts(stores[1]).list("k")) == ["likes tea"]


def test_a_replica_without_tables_is_refused_and_stays_as_it_is(pair):
    primary, replica = pair
    with pytest.raises(StorageFailedError, match="is read-only"):
        PostgresStore(replica.dsn)
    assert primary.query("SELECT count(*) FROM pg_namespace WHERE nspname='vectormem'") == [(0,)]


def test_a_large_key_is_searched_on_a_replica_through_the_index_that_the_primary_built(
    pair, stores, monkeypatch, caplog
):
    monkeypatch.setattr(search, "TWO_STAGE_FLOATS", 1)
    writing, reading = stores
    facts(writing).add_many("k", [f"word{number}" for number in range(200)])
    catch_up(*pair)
    with caplog.at_level(logging.WARNING, "vectormem"):
        assert texts_of(facts(reading).list("k", query="word7", limit=1)) == ["word7"]
        reading.indexes.wait()
    assert "on the primary" in caplog.text
    facts(writing).list("k", query="word7", limit=1)
    writing.indexes.wait()
    catch_up(*pair)
    scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'memory_vectors_near_%'"
    assert pair[1].query(scans) == [(0,)]
    assert texts_of(facts(reading).list("k", query="word8", limit=1)) == ["word8"]
    pair[1].wait_until(f"SELECT ({scans}) > 0")


def test_a_store_that_prefers_a_standby_reads_there(pair, stores):
    hosts = [server.socket for server in pair]
    with PostgresStore(BOTH.format(*hosts, "prefer-standby")) as store:
        assert store.read(lambda connection: connection.query("SELECT pg_is_in_recovery()", ())) == [(True,)]
    with PostgresStore(BOTH.format(*hosts[::-1], "read-write")) as store:
        assert store.read(lambda connection: connection.query("SELECT pg_is_in_recovery()", ())) == [(False,)]


def test_after_a_failover_the_replica_serves_the_same_store_object():
    with servers() as start:
        primary = start("primary")
        replica = start.replica(primary, "standby")
        dsn = BOTH.format(primary.socket, replica.socket, "read-write")
        with PostgresStore(dsn, connect_seconds=2, wait_seconds=10) as store:
            memory = facts(store)
            memory.add("k", "likes tea")
            catch_up(primary, replica)
            primary.kill()
            with pytest.raises(StorageFailedError, match="cannot be reached"):
                memory.add("k", "likes milk")
            replica.promote()
            memory.add("k", "likes milk")
            assert texts_of(memory.list("k")) == ["likes milk", "likes tea"]
            assert texts_of(memory.list("k", query="tea")) == ["likes tea"]


class Writer(threading.Thread):
    """Adds items one after the other to several keys, and notes which of them were acknowledged."""

    def __init__(self, memory, key):
        super().__init__(daemon=True)
        self.memory, self.key, self.acknowledged, self.is_over = memory, key, [], False

    def run(self):
        number = 0
        while not self.is_over:
            text = f"fact {number}"
            try:
                self.acknowledged.append(self.memory.add(self.key, text))
            except StorageFailedError:
                time.sleep(0.01)
                continue  # the same text again: it is there whole, or not at all
            number += 1


@contextmanager
def writing(memory, *keys):
    """Let a thread for each key write."""
    writers = [Writer(memory, key) for key in keys]
    for writer in writers:
        writer.start()
    try:
        yield writers
    finally:
        for writer in writers:
            writer.is_over = True
        for writer in writers:
            writer.join(60)


def test_with_synchronous_replication_nothing_acknowledged_is_lost_when_the_primary_is_killed():
    with servers() as start:
        primary = start("primary")
        replica = start.replica(primary, "standby")
        primary.restart(synchronous_standby_names="standby", synchronous_commit="on")
        replica.wait_until("SELECT count(*) > 0 FROM pg_stat_wal_receiver WHERE status='streaming'")
        dsn = BOTH.format(primary.socket, replica.socket, "read-write")
        with PostgresStore(dsn, connect_seconds=2, wait_seconds=10) as store:
            memory = blocking(PostgresVectorMemory(store, embedder=ScriptedEmbedder(), max_items=None))
            with writing(memory, "k1", "k2", "k3", "k4") as writers:
                wait_for(lambda: all(len(writer.acknowledged) > 20 for writer in writers))
                primary.kill()
                before = [len(writer.acknowledged) for writer in writers]
                replica.promote()
                wait_for(lambda: all(len(w.acknowledged) > n + 20 for w, n in zip(writers, before, strict=True)))
            for writer in writers:
                assert list(memory.list(writer.key))[::-1] == writer.acknowledged
                assert texts_of(writer.acknowledged) == [f"fact {n}" for n in range(len(writer.acknowledged))]


def test_with_synchronous_replication_what_no_standby_has_is_not_acknowledged_and_is_done_again():
    with servers() as start:
        primary = start("primary")
        replica = start.replica(primary, "standby")
        primary.restart(synchronous_standby_names="standby", synchronous_commit="on")
        dsn = BOTH.format(primary.socket, replica.socket, "read-write")
        with PostgresStore(dsn, connect_seconds=2, wait_seconds=30) as store:
            memory = blocking(PostgresMemory(store, max_items=None))
            with writing(memory, "k1", "k2", "k3", "k4") as writers:
                wait_for(lambda: all(len(writer.acknowledged) > 20 for writer in writers))
                replica.kill()
                primary.wait_until("SELECT count(*)=4 FROM pg_stat_activity WHERE wait_event='SyncRep'")
                before = [len(writer.acknowledged) for writer in writers]
                primary.kill()
                assert [len(writer.acknowledged) for writer in writers] == before
                replica.start()
                replica.promote()
                wait_for(lambda: all(len(w.acknowledged) > n for w, n in zip(writers, before, strict=True)))
            for writer in writers:
                assert list(memory.list(writer.key))[::-1] == writer.acknowledged


def test_without_it_what_had_not_arrived_at_the_replica_is_lost():
    with servers() as start:
        primary = start("primary")
        with PostgresStore(primary.dsn) as store:
            memory = facts(store)
            memory.add("k", "likes tea")
            replica = start.replica(primary, "standby")
            catch_up(primary, replica)
            replica.kill()
            memory.add("k", "likes milk")
            primary.kill()
        replica.start()
        replica.promote()
        with PostgresStore(replica.dsn) as store:
            assert texts_of(facts(store).list("k")) == ["likes tea"]


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def unconfirmed():
    """A store whose server waits for a standby that is not there."""
    with servers() as start:
        primary = start("primary")
        PostgresStore(primary.dsn).close()
        primary.restart(synchronous_standby_names="standby", synchronous_commit="on")
        with PostgresStore(primary.dsn, wait_seconds=1) as store:
            yield primary, blocking(PostgresMemory(store))


def test_a_change_that_no_standby_confirms_in_time_is_no_success(unconfirmed):
    with pytest.raises(StorageFailedError, match="there whole or not at all; look, or do it again"):
        unconfirmed[1].add("k", "likes tea")


def test_a_change_whose_wait_for_the_standby_is_cancelled_is_no_success(unconfirmed):
    primary, memory = unconfirmed
    cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event='SyncRep'"
    canceller = threading.Thread(target=primary.wait_until, args=(f"SELECT coalesce(({cancel}), false)",))
    canceller.start()
    with pytest.raises(StorageFailedError, match="no standby has confirmed"):
        memory.add("k", "likes tea")
    canceller.join()
    assert texts_of(memory.list("k")) == ["likes tea"]
