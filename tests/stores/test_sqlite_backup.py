"""Backups of a database in use, and what they are put in place of."""

import asyncio
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
    MemoryInvalidError,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
    StorageFailedError,
    blocking,
)
from vectormem.stores.sqlite import backup as backups
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


def test_a_backup_is_one_private_file_that_opens_as_a_memory(store, target):
    memory_of(store).add_many("facts#sam", ["green tea", "milk"])
    memory_of(store).add("facts#ann", "bread")
    chat = ChatStorage(store, embedder=HashEmbedder(), scope_key="sam")
    blocking(chat).save_message("talk", "user", "what was said in the chat")
    old = os.umask(0)
    try:
        snapshot = blocking(store).backup(target)
    finally:
        os.umask(old)
    assert snapshot == (str(target), {"facts#ann": 1, "facts#sam": 2}, 1, target.stat().st_size)
    assert [path.name for path in target.parent.iterdir()] == ["monday.db"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    memory_of(store).clear("facts#sam")
    with SqliteStore(target) as copy:
        assert texts_of(memory_of(copy).list("facts#sam", query="tea")) == ["green tea"]
        assert texts_of(memory_of(copy).list("facts#sam")) == ["milk", "green tea"]


def test_a_backup_is_the_state_at_its_beginning_though_others_write_on(store, target):
    memory = memory_of(store)
    memory.add_many("k", [f"{number} " + "x" * 9000 for number in range(900)])
    calls = []

    def write_on(done, total):
        calls.append((done, total))
        memory.add("k", f"written after {len(calls)} steps")

    assert blocking(store).backup(target, on_progress=write_on).keys == {"k": 900}
    assert len(calls) >= 3
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]
    with SqliteStore(target) as copy:
        assert memory_of(copy).count("k") == 900
    assert memory_of(store).count("k") == 900 + len(calls)


def test_an_existing_file_is_never_overwritten_unless_that_is_asked_for(store, target):
    memory_of(store).add("k", "tea")
    target.write_text("something else")
    with pytest.raises(StorageFailedError, match="exists already"):
        blocking(store).backup(target)
    assert target.read_text() == "something else"
    assert blocking(store).backup(target, overwrite=True).keys == {"k": 1}
    assert [path.name for path in target.parent.iterdir()] == ["monday.db"]


def test_a_file_that_came_in_between_is_not_overwritten_either(store, target):
    memory_of(store).add("k", "tea")
    with pytest.raises(StorageFailedError, match="exists already"):
        blocking(store).backup(target, on_progress=lambda done, total: target.write_text("mine"))
    assert target.read_text() == "mine"
    assert [path.name for path in target.parent.iterdir()] == ["monday.db"]


def test_a_backup_that_breaks_off_leaves_nothing(store, target):
    memory_of(store).add("k", "tea")

    def break_off(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        blocking(store).backup(target, on_progress=break_off)
    assert list(target.parent.iterdir()) == []
    assert blocking(store).backup(target).keys == {"k": 1}


def test_a_backup_with_damage_is_refused_and_leaves_nothing(store, target, monkeypatch):
    memory_of(store).add("k", "tea")
    copy_pages = backups.copy_pages

    def damage(source, copy, on_progress):
        copy_pages(source, copy, on_progress)
        copy.execute("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=3 WHERE name='memory_items_by_id'")

    with monkeypatch.context() as patched:
        patched.setattr(backups, "copy_pages", damage)
        with pytest.raises(StorageFailedError, match="damaged"):
            blocking(store).backup(target)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["missing/folder.db", ""])
def test_a_place_that_cannot_be_written_is_an_error(store, target, name):
    with pytest.raises((StorageFailedError, MemoryInvalidError)):
        blocking(store).backup(target.parent / name if name else "")


def test_the_database_itself_is_no_place_for_its_backup(store):
    with pytest.raises(MemoryInvalidError, match="the database itself"):
        blocking(store).backup(store.path, overwrite=True)
    with pytest.raises(MemoryInvalidError, match="the database itself"):
        blocking(store).restore(store.path)


def test_a_database_in_memory_has_no_backup(target):
    with SqliteStore(":memory:") as store:
        for verb in (blocking(store).backup, blocking(store).restore):
            with pytest.raises(MemoryInvalidError, match="in memory"):
                verb(target)


def test_a_backup_holds_nothing_that_was_removed_before(store, target):
    memory = memory_of(store)
    items = [memory.add("k", f"needle{number} " + "x" * 900) for number in range(100)]
    for item in items[10:90]:
        memory.remove("k", item.id)
    blocking(store).backup(target)
    content = target.read_bytes()
    assert [item.id for item in items if item.id.encode() in content] == [item.id for item in items[:10] + items[90:]]


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


def test_the_verbs_run_in_any_event_loop_and_two_at_once(store, target):
    memory = SqliteMemory(store)

    async def use():
        await memory.add("k", "tea")
        names = [target.with_name(f"{number}.db") for number in range(4)]
        return await asyncio.gather(*(store.backup(name) for name in names))

    assert [snapshot.keys for snapshot in asyncio.run(use())] == [{"k": 1}] * 4
    assert [snapshot.keys for snapshot in asyncio.run(use2(store, target))] == [{"k": 1}] * 2


async def use2(store, target):
    return await asyncio.gather(*(store.backup(target.with_name(f"again{number}.db")) for number in range(2)))


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
