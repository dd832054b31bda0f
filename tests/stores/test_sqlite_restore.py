"""Backups put in place of a database, which may be in use."""

import os
import stat
import threading
from contextlib import closing

import apsw
import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import (
    ChatStorage,
    SqliteStore,
    SqliteVectorMemory,
    StorageFailedError,
    blocking,
)
from vectormem.stores.sqlite import schema
from vectormem.stores.sqlite.restore import restore


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture
def target(tmp_path):
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "monday.db"


def memory_of(store):
    return blocking(SqliteVectorMemory(store, embedder=HashEmbedder(), max_items=None))


def restored(source, path, *, overwrite=False):
    return restore(source, path, None, overwrite=overwrite, on_progress=None)


def test_a_backup_is_restored_to_a_new_file(store, target, tmp_path):
    memory_of(store).add_many("k", ["tea", "milk"])
    blocking(store).backup(target)
    path = tmp_path / "new.db"
    assert restored(target, path) == (str(path), {"k": 2}, 0, path.stat().st_size)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith((".", "new"))) == ["new.db"]
    with SqliteStore(path) as copy:
        assert texts_of(memory_of(copy).list("k", query="tea")) == ["tea"]


def test_a_database_is_not_replaced_unless_that_is_asked_for(store, target, tmp_path):
    memory_of(store).add("k", "tea")
    blocking(store).backup(target)
    memory_of(store).add("k", "milk")
    with pytest.raises(StorageFailedError, match="exists already"):
        restored(target, tmp_path / "memory.db")
    assert texts_of(memory_of(store).list("k")) == ["milk", "tea"]


@pytest.mark.parametrize("changes", range(4))
def test_open_stores_see_what_was_restored_whatever_they_remember(store, target, tmp_path, changes):
    """Also where as many changes came after the backup as now come after the restoring of it."""
    with SqliteStore(tmp_path / "memory.db") as other:
        here, there = memory_of(store), memory_of(other)
        here.add_many("k", ["green tea", "milk"])
        blocking(store).backup(target)
        for number in range(changes):
            here.add("k", f"black tea {number}")
            here.add(f"late {number}", "tea")
        for one in (here, there):
            assert len(one.list("k", query="tea")) == 1 + changes
        assert blocking(store).restore(target).keys == {"k": 2}
        for number in range(changes):
            there.add("k", f"red wine {number}")
            there.add(f"late {number}", "wine")
        for one in (here, there):
            assert texts_of(one.list("k", query="tea")) == ["green tea"]
            assert len(one.list("k", query="wine")) == changes
            assert all(texts_of(one.list(f"late {number}", query="tea wine")) == ["wine"] for number in range(changes))
            assert list(one.scope_keys()) == ["k", *(f"late {number}" for number in range(changes))]


def test_chats_are_restored_too_and_searched_as_they_are_now(store, target):
    chat = blocking(ChatStorage(store, embedder=HashEmbedder(), ranking="hybrid"))
    chat.save_message("talk", "user", "I like green tea in the morning")
    blocking(store).backup(target)
    chat.save_message("talk", "user", "I like black tea in the evening")
    assert len(chat.search_messages("black tea")) == 2
    assert blocking(store).restore(target).messages == 1
    assert [match.message.content for match in chat.search_messages("black tea")] == ["I like green tea in the morning"]


def test_a_damaged_backup_is_refused_and_changes_nothing(store, target):
    memory_of(store).add_many("k", [f"{number} " + "x" * 900 for number in range(100)])
    blocking(store).backup(target)
    content = bytearray(target.read_bytes())
    content[len(content) // 2 :] = os.urandom(len(content) - len(content) // 2)
    target.write_bytes(content)
    before = texts_of(memory_of(store).list("k"))
    with pytest.raises(StorageFailedError, match="damaged"):
        blocking(store).restore(target)
    assert texts_of(memory_of(store).list("k")) == before


@pytest.mark.parametrize("content", [b"", b"no database at all" * 1000])
def test_what_is_no_backup_is_refused(store, target, content):
    target.write_bytes(content)
    with pytest.raises(StorageFailedError):
        blocking(store).restore(target)
    with pytest.raises(StorageFailedError, match="there is no backup"):
        blocking(store).restore(target.with_name("none.db"))


def test_a_database_of_something_else_is_neither_restored_nor_replaced(store, target, tmp_path):
    memory_of(store).add("k", "tea")
    bills = tmp_path / "bills.db"
    with closing(apsw.Connection(str(bills))) as foreign:
        foreign.execute("CREATE TABLE bills(amount); INSERT INTO bills VALUES(7)")
    with pytest.raises(StorageFailedError, match="without vectormem's tables"):
        blocking(store).restore(bills)
    blocking(store).backup(target)
    with pytest.raises(StorageFailedError, match="something else"):
        restored(target, bills, overwrite=True)
    with closing(apsw.Connection(str(bills))) as foreign:
        assert foreign.execute("SELECT * FROM bills").fetchall() == [(7,)]


def test_a_backup_of_a_newer_version_is_refused_and_one_of_an_older_is_brought_up_to_date(store, target, monkeypatch):
    memory_of(store).add("k", "tea")
    blocking(store).backup(target)
    with closing(apsw.Connection(str(target))) as newer:
        newer.execute("PRAGMA user_version=999")
    with pytest.raises(StorageFailedError, match="999"):
        blocking(store).restore(target)
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        with SqliteStore(target.with_name("old.db")) as old:
            memory_of(old).add("k", "old wine")
    assert blocking(store).restore(target.with_name("old.db")).keys == {"k": 1}
    assert texts_of(memory_of(store).list("k", query="wine")) == ["old wine"]
    assert blocking(ChatStorage(store, embedder=HashEmbedder())).conversations() == []


def test_a_backup_of_another_page_size_is_restored_too(store, target):
    with closing(apsw.Connection(str(target))) as small:
        small.execute("PRAGMA page_size=4096; CREATE TABLE bills(amount)")
    with SqliteStore(target) as other:
        memory_of(other).add_many("k", ["green tea", "milk"])
    assert blocking(store).restore(target).keys == {"k": 2}
    assert texts_of(memory_of(store).list("k", query="tea")) == ["green tea"]


def test_logs_of_a_database_that_is_gone_are_not_played_into_the_restored_one(store, target, tmp_path):
    memory_of(store).add("k", "tea")
    blocking(store).backup(target)
    (tmp_path / "new.db-wal").write_bytes(b"x" * 100)
    with pytest.raises(StorageFailedError, match="move it away"):
        restored(target, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_reader_keeps_its_state_while_a_backup_is_restored_and_a_writer_is_waited_for(store, target, tmp_path):
    memory_of(store).add("k", "tea")
    blocking(store).backup(target)
    memory_of(store).add("k", "milk")
    with closing(apsw.Connection(str(tmp_path / "memory.db"))) as other:
        other.execute("BEGIN")
        assert other.execute("SELECT count(*) FROM memory_items").get == 2
        blocking(store).restore(target)
        assert other.execute("SELECT count(*) FROM memory_items").get == 2
        other.execute("COMMIT")
        assert other.execute("SELECT count(*) FROM memory_items").get == 1
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE memory_keys SET version=version+1")
        restoring = threading.Thread(target=blocking(store).restore, args=[target])
        restoring.start()
        other.execute("COMMIT")
        restoring.join()
    assert texts_of(memory_of(store).list("k")) == ["tea"]
