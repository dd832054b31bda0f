"""A SqliteStore when the disk is full, others hold its locks, or a transaction fails halfway."""

import threading
from contextlib import closing

import apsw
import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import SqliteMemory, SqliteStore, SqliteVectorMemory, StorageFailedError, blocking

KINDS = {
    "words": lambda store: SqliteMemory(store, max_items=None),
    "vectors": lambda store: SqliteVectorMemory(store, embedder=HashEmbedder(), max_items=None),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def store(path):
    with SqliteStore(path, busy_seconds=0.05) as store:
        yield store


def limit_pages(store, pages):
    store.write(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())


def pages_in_use(store):
    return store.read(lambda connection: connection.execute("PRAGMA page_count").get)


def test_a_full_disk_is_a_storage_error_and_what_was_stored_is_whole(store, kind):
    """openhab/openhab-core#2989"""
    memory = blocking(kind(store))
    memory.add_many("k", ["Tea.", "Milk."])
    limit_pages(store, pages_in_use(store) + 2)
    with pytest.raises(StorageFailedError, match="full"):
        memory.add_many("k", [f"Number {number}: " + "x" * 2000 for number in range(500)])
    assert texts_of(memory.list("k")) == ["Milk.", "Tea."]
    assert texts_of(memory.list("k", query="milk")) == ["Milk."]
    assert memory.count("k") == 2


def test_a_store_works_again_when_there_is_room_again(store, kind):
    memory = blocking(kind(store))
    memory.add("k", "Tea.")
    limit_pages(store, pages_in_use(store))
    with pytest.raises(StorageFailedError):
        memory.add("k", "x" * 100_000)
    limit_pages(store, 2**30)
    memory.add("k", "y" * 100_000)
    memory.remove("k", memory.list("k")[1].id)
    assert texts_of(memory.list("k")) == ["y" * 100_000]


def test_a_write_waits_for_the_writer_of_another_connection(path, kind):
    """mem0ai/mem0#7196, anomalyco/opencode#21215"""
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as other:
        memory = blocking(kind(store))
        memory.add("k", "Tea.")
        other.execute("BEGIN IMMEDIATE")
        added = threading.Thread(target=memory.add, args=("k", "Milk."))
        added.start()
        assert texts_of(memory.list("k")) == ["Tea."]
        assert added.is_alive()
        other.execute("COMMIT")
        added.join()
        assert texts_of(memory.list("k")) == ["Milk.", "Tea."]


def test_a_writer_that_never_ends_is_a_storage_error(store, path, kind):
    memory = blocking(kind(store))
    memory.add("k", "Tea.")
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailedError, match="locked"):
            memory.add("k", "Milk.")
        assert texts_of(memory.list("k")) == ["Tea."]
        other.execute("ROLLBACK")
    memory.add("k", "Bread.")
    assert texts_of(memory.list("k")) == ["Bread.", "Tea."]


def test_a_transaction_that_failed_leaves_no_transaction_behind(store, kind):
    """tox-dev/filelock#575"""
    memory = blocking(kind(store))
    memory.add("k", "Tea.")

    def fail(connection):
        connection.execute("DELETE FROM memory_vectors")
        connection.execute("DELETE FROM memory_items")
        raise ZeroDivisionError

    for transaction in (store.write, store.read):
        with pytest.raises(ZeroDivisionError):
            transaction(fail)
    memory.add("k", "Milk.")
    assert texts_of(memory.list("k")) == ["Milk.", "Tea."]


def test_a_statement_that_ended_its_transaction_itself_leaves_none_behind(store, kind):
    memory = blocking(kind(store))

    def roll_back(connection):
        connection.execute("ROLLBACK")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(roll_back)
    memory.add("k", "Tea.")
    assert texts_of(memory.list("k")) == ["Tea."]


def test_a_failing_change_changes_nothing_of_items_vectors_and_counters(store, kind, monkeypatch):
    from vectormem.stores.sqlite.rows import SqlRows

    memory = blocking(kind(store))
    memory.add_many("k", ["Tea.", "Milk."])

    def break_off(rows):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(SqlRows, "finish", break_off)
        for verb in (
            lambda: memory.add("k", "Bread."),
            lambda: memory.clear("k"),
            lambda: memory.upsert("k", "Tea, hot.", id=memory.list("k")[1].id),
        ):
            with pytest.raises(ZeroDivisionError):
                verb()
    assert texts_of(memory.list("k")) == ["Milk.", "Tea."]
    assert texts_of(memory.list("k", query="tea")) == ["Tea."]
    assert memory.list("k", query="hot bread") == []
    assert memory.count("k") == 2
    memory.add("k", "Salt.")
    assert texts_of(memory.list("k", query="salt")) == ["Salt."]


def test_the_log_stays_bounded_under_many_writes_with_idle_readers(tmp_path):
    """thedotmack/claude-mem#1836, DeusData/codebase-memory-mcp#1083"""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, SqliteStore(path) as idle:
        memory, reader = blocking(SqliteMemory(store, max_items=20)), blocking(SqliteMemory(idle))
        page = 16_384
        written = 0
        reader.list("k")
        for number in range(120):
            memory.add("k", f"{number} " + "x" * 30 * page)
            written += 30 * page
            if number == 60:
                reader.list("k", limit=1)
        log = (tmp_path / "memory.db-wal").stat().st_size
        assert written > 2 * 24 * 2**20
        assert log < 24 * 2**20
        assert texts_of(reader.list("k", limit=1)) == texts_of(memory.list("k", limit=1))


def test_nothing_of_a_removed_text_is_left_in_the_file(tmp_path, kind):
    secret = "the vault opens with tangerine-4711"
    path = tmp_path / "memory.db"
    with blocking(kind(path)) as memory:
        memory.add_many("k", [f"An ordinary text, number {number}." for number in range(50)])
        memory.add("k", secret, metadata={"hint": "tangerine"})
        memory.remove("k", memory.list("k", limit=1)[0].id)
        assert memory.count("k") == 50
    content = path.read_bytes()
    assert b"ordinary text, number 49" in content
    assert b"tangerine" not in content


def test_nothing_of_a_replaced_or_cleared_text_is_left_in_the_file(tmp_path, kind):
    path = tmp_path / "memory.db"
    with blocking(kind(path)) as memory:
        item = memory.add("k", "tangerine one", metadata={"hint": "tangerine"})
        memory.upsert("k", "plain", id=item.id)
        memory.add_many("gone", [f"tangerine {number}" + "x" * 30_000 for number in range(20)])
        memory.clear("gone")
        memory.add("tangerine key", "short")
        memory.clear("tangerine key")
    assert b"tangerine" not in path.read_bytes()


def test_no_vector_of_a_removed_text_is_left_in_the_file(tmp_path):
    path = tmp_path / "memory.db"
    with blocking(KINDS["vectors"](path)) as memory:
        memory.add("k", "plain words")
        item = memory.add("k", "a singular sentence about tangerines")
        with closing(apsw.Connection(str(path))) as reading:
            vectors = [blob for (blob,) in reading.execute("SELECT embedding FROM memory_vectors ORDER BY seq")]
        memory.remove("k", item.id)
    content = path.read_bytes()
    assert [vector in content for vector in vectors] == [True, False]
