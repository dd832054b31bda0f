"""Tables that a part of the program adds to a file when it first writes."""

import threading

import pytest

from vectormem import SqliteStore, StorageFailedError
from vectormem.stores.sqlite.added_tables import AddedTables

SCRIPT = "CREATE TABLE IF NOT EXISTS parts (name TEXT); CREATE INDEX IF NOT EXISTS parts_by_name ON parts(name);"


TABLES = AddedTables(table="parts", script=SCRIPT)


def read(store, work):
    return store.read(lambda connection: work(TABLES.seen_in(connection)))


def write(store, work):
    return store.write(lambda connection: work(TABLES.made_in(connection)))


def insert(name):
    return lambda connection: connection.execute("INSERT INTO parts VALUES (?)", (name,)).get


def names(connection):
    return [name for (name,) in connection.execute("SELECT name FROM parts ORDER BY name")]


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path):
    with SqliteStore(tmp_path / "a.db" if request.param == "file" else ":memory:") as opened:
        yield opened


def test_reading_before_the_first_write_sees_them_empty_and_writes_nothing(store):
    assert read(store, names) == []
    assert store.read(lambda one: one.execute("SELECT count(*) FROM sqlite_schema WHERE name='parts'").get) == 0


def test_the_first_write_makes_the_tables_and_the_next_ones_keep_them(store):
    write(store, insert("a"))
    write(store, insert("b"))
    assert read(store, names) == ["a", "b"]


def test_a_first_write_that_fails_leaves_no_tables_and_can_be_repeated(store):
    def fail(connection):
        insert("a")(connection)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        write(store, fail)
    assert read(store, names) == []
    write(store, insert("b"))
    assert read(store, names) == ["b"]


def test_two_stores_on_one_file_may_make_the_tables_at_once(tmp_path):
    stores = [SqliteStore(tmp_path / "a.db") for _ in range(4)]
    threads = [
        threading.Thread(target=lambda one=one, name=name: write(one, insert(name)))
        for name, one in zip("abcd", stores, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert read(stores[0], names) == ["a", "b", "c", "d"]
    for one in stores:
        one.close()


def test_the_schema_version_stays_and_the_file_opens_again(tmp_path):
    with SqliteStore(tmp_path / "a.db") as store:
        before = store.read(lambda connection: connection.pragma("user_version"))
        write(store, insert("a"))
    with SqliteStore(tmp_path / "a.db") as store:
        assert store.read(lambda connection: connection.pragma("user_version")) == before
        assert read(store, names) == ["a"]


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(StorageFailedError, match="is closed"):
        write(store, insert("a"))
