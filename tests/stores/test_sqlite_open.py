"""Opening and closing a SqliteStore: new files, foreign files, newer files, files that are none."""

import asyncio
import os
import sqlite3
from contextlib import closing

import apsw
import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import (
    MemoryInvalidError,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
    StorageFailedError,
    VectorMemError,
    blocking,
)
from vectormem.stores.sqlite import schema


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


def query(path, sql):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def tables(path):
    return {name for (name,) in query(path, "SELECT name FROM sqlite_schema WHERE type='table'")}


def test_a_new_file_has_the_tables_and_their_version(path):
    SqliteStore(path).close()
    assert {"memory_items", "memory_vectors"} <= tables(path)
    assert query(path, "PRAGMA user_version")[0][0] >= 1
    assert query(path, "PRAGMA journal_mode") == [("wal",)]


def test_a_file_survives_being_opened_many_times(path):
    for number in range(3):
        with blocking(SqliteMemory(path)) as memory:
            memory.add("k", f"Text {number}.")
    with blocking(SqliteMemory(path)) as memory:
        assert texts_of(memory.list("k")) == ["Text 2.", "Text 1.", "Text 0."]


def test_an_existing_database_gains_the_tables_and_keeps_its_own(path):
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TABLE bills(id INTEGER PRIMARY KEY, amount TEXT)")
        foreign.executemany("INSERT INTO bills(amount) VALUES(?)", [("1.10",), ("2.20",)])
        foreign.commit()
    with blocking(SqliteMemory(path)) as memory:
        memory.add("k", "Tea.")
        assert texts_of(memory.list("k")) == ["Tea."]
    assert query(path, "SELECT * FROM bills") == [(1, "1.10"), (2, "2.20")]
    assert {"bills", "memory_items"} <= tables(path)


def test_another_programs_table_of_the_same_name_is_a_loud_error_and_stays(path):
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TABLE memory_items(scope_key TEXT PRIMARY KEY, payload TEXT)")
        foreign.execute("INSERT INTO memory_items VALUES('global', '[]')")
        foreign.commit()
    with pytest.raises(StorageFailedError):
        SqliteStore(path)
    assert query(path, "SELECT * FROM memory_items") == [("global", "[]")]
    assert tables(path) == {"memory_items"}


@pytest.mark.parametrize("version", [len(schema.MIGRATIONS) + 1, 999])
@pytest.mark.parametrize("has_tables", [True, False])
def test_a_newer_file_is_refused_before_any_write(path, version, has_tables):
    """alphaonedev/ai-memory-mcp#2574, omartelo/lich#597"""
    if has_tables:
        with blocking(SqliteMemory(path)) as memory:
            memory.add("k", "Tea.")
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    for opening in (
        lambda: SqliteStore(path),
        lambda: SqliteMemory(path),
        lambda: SqliteVectorMemory(path, embedder=HashEmbedder()),
    ):
        with pytest.raises(StorageFailedError, match=rf"{version}.*upgrade"):
            opening()
    assert path.read_bytes() == before


def test_a_file_that_became_newer_while_it_was_open_is_not_opened_anew(path):
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as newer:
        newer.execute("PRAGMA user_version=999")
        with pytest.raises(StorageFailedError, match="999"):
            blocking(SqliteMemory(store)).list("k")


def test_what_is_no_database_is_a_loud_error_and_stays(path):
    content = b"Dear diary, this is no database at all." * 100
    path.write_bytes(content)
    with pytest.raises(StorageFailedError, match="is not a SQLite database"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_damaged_database_is_a_loud_error(path):
    with blocking(SqliteMemory(path, max_items=None)) as memory:
        memory.add_many("k", [f"A text to fill pages, number {number}." for number in range(2000)])
    content = bytearray(path.read_bytes())
    content[16_384:] = os.urandom(len(content) - 16_384)
    path.write_bytes(content)
    with pytest.raises(StorageFailedError), blocking(SqliteMemory(path)) as memory:
        memory.list("k")


def test_an_empty_file_becomes_a_database(path):
    path.touch()
    with blocking(SqliteMemory(path)) as memory:
        memory.add("k", "Tea.")
        assert memory.count("k") == 1


@pytest.mark.parametrize("kind", [SqliteMemory, lambda path: SqliteVectorMemory(path, embedder=HashEmbedder())])
def test_a_path_in_a_missing_folder_is_an_error_and_never_a_memory_that_is_lost(tmp_path, kind):
    """Th0rgal/sandboxed.sh#573"""
    with pytest.raises(StorageFailedError, match="folder exists"):
        kind(tmp_path / "missing" / "memory.db")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_the_file_is_a_storage_error(tmp_path):
    with pytest.raises(StorageFailedError):
        SqliteStore(tmp_path)


@pytest.mark.parametrize("path", ["", None, 3, "nul\0byte"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(VectorMemError):
        SqliteStore(path)


@pytest.mark.parametrize("store", [None, 3, object(), [], SqliteStore])
def test_a_provider_takes_a_store_or_a_path(store):
    for opening in (lambda: SqliteMemory(store), lambda: SqliteVectorMemory(store, embedder=HashEmbedder())):
        with pytest.raises(MemoryInvalidError, match="SqliteStore or a path"):
            opening()


def test_closing_twice_does_nothing(path):
    store = SqliteStore(path)
    store.close()
    store.close()
    asyncio.run(store.aclose())


def test_a_store_is_a_sync_and_an_async_context_manager(path):
    with SqliteStore(path) as store:
        blocking(SqliteMemory(store)).add("k", "Tea.")
    with pytest.raises(StorageFailedError, match="closed"):
        blocking(SqliteMemory(store)).count("k")

    async def use():
        async with SqliteStore(path) as second:
            found = await SqliteMemory(second).list("k")
        with pytest.raises(StorageFailedError, match="closed"):
            await SqliteMemory(second).count("k")
        return found

    assert texts_of(asyncio.run(use())) == ["Tea."]


@pytest.mark.parametrize(
    "verb",
    [
        lambda memory: memory.list("k"),
        lambda memory: memory.list("k", query="tea"),
        lambda memory: memory.add("k", "Milk."),
        lambda memory: memory.add_many("k", ["Milk."]),
        lambda memory: memory.upsert("k", "Milk.", id="1"),
        lambda memory: memory.remove("k", "1"),
        lambda memory: memory.get("k", "1"),
        lambda memory: memory.count("k"),
        lambda memory: memory.clear("k"),
        lambda memory: memory.scope_keys(),
        lambda memory: memory.reindex(),
    ],
)
@pytest.mark.parametrize("path", ["memory.db", ":memory:"])
def test_use_after_close_is_a_storage_error(tmp_path, monkeypatch, path, verb):
    monkeypatch.chdir(tmp_path)
    store = SqliteStore(path)
    memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
    memory.add("k", "Tea.")
    memory.list("k", query="tea")
    store.close()
    with pytest.raises(StorageFailedError, match="closed"):
        verb(memory)


def test_a_provider_closes_the_store_that_it_opened_and_no_other(path):
    with SqliteStore(path) as store:
        with blocking(SqliteMemory(store)) as memory:
            memory.add("k", "Tea.")
        assert blocking(SqliteMemory(store)).count("k") == 1
    with blocking(SqliteMemory(path)) as own:
        own.count("k")
    with pytest.raises(StorageFailedError, match="closed"):
        own.count("k")


def test_closing_leaves_one_file_that_holds_everything(path):
    with blocking(SqliteMemory(path)) as memory:
        memory.add("k", "Tea.")
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


def test_a_relative_path_is_that_of_the_moment_of_opening(tmp_path, monkeypatch):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    with blocking(SqliteMemory("memory.db")) as memory:
        memory.add("k", "Tea.")
        monkeypatch.chdir(tmp_path / "two")
        assert texts_of(memory.list("k")) == ["Tea."]
        memory.add("k", "Milk.")
        assert texts_of(memory.list("k")) == ["Milk.", "Tea."]
    assert list((tmp_path / "two").iterdir()) == []


def test_a_migration_that_broke_off_left_nothing_and_is_done_at_the_next_opening(path, monkeypatch):
    """dgahagan/shelf#24"""

    def break_off(connection):
        connection.execute("CREATE TABLE half_done(x)")
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:1], break_off))
        with pytest.raises(ZeroDivisionError):
            SqliteStore(path)
    assert tables(path) == set()
    with blocking(SqliteMemory(path)) as memory:
        memory.add("k", "Tea.")
        assert memory.count("k") == 1


def test_an_older_file_is_brought_up_to_date_with_its_items(path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        SqliteStore(path).close()
    assert query(path, "PRAGMA user_version") == [(1,)]
    with blocking(SqliteVectorMemory(path, embedder=HashEmbedder())) as memory:
        memory.add("k", "green tea")
        assert texts_of(memory.list("k", query="tea")) == ["green tea"]
