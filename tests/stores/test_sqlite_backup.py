"""Backups of a database in use."""

import asyncio
import os
import stat

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
