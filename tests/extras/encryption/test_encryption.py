"""Encrypted databases: nothing in plain in any file, and everything else as ever."""

import logging
import pickle
import stat
import traceback
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

from embedders import HashEmbedder
from tests.conftest import in_forked_child, texts_of
from tests.extras.encryption.conftest import PASSPHRASE, RAW, memory_of
from tests.stores.raw_files import RandomEmbedder, contents
from vectormem import (
    ChatStorage,
    MemoryInvalidError,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
    StorageFailedError,
    blocking,
)
from vectormem.stores.sqlite import search
from vectormem.stores.sqlite.scan import can_scan

TEXTS = [f"needle {number}: {'vegetarian ' * 30}" for number in range(300)]


def plain_in(folder, *needles):
    return [(name, one) for name, content in contents(folder).items() for one in needles if one in content]


def test_nothing_stands_in_plain_in_any_file(path, store):
    embedder = RandomEmbedder()
    memory = blocking(SqliteVectorMemory(store, embedder=embedder, max_items=None))
    items = memory.add_many("facts#user:sam", TEXTS, metadata={"note": "metaneedle"})
    blocking(ChatStorage(store, embedder=embedder, scope_key="user:sam")).save_message("talk", "user", TEXTS[0])
    needles = [b"needle", b"vegetarian", b"user:sam", b"memory_items", items[0].id.encode(), embedder.stored(TEXTS[0])]
    blocking(store).backup(path.with_name("backup.db"))
    store.close()
    assert plain_in(path.parent, *needles) == []
    assert not path.read_bytes().startswith(b"SQLite format 3")
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()} == {0o600}


def test_the_log_is_encrypted_too(path, key):
    store = SqliteStore(path, key=key)
    memory_of(store).add_many("k", TEXTS)
    log = path.with_name("memory.db-wal").read_bytes()
    store.close()
    assert len(log) > 16_384
    assert b"needle" not in log
    assert b"vegetarian" not in log


def test_what_was_stored_is_there_again_for_who_has_the_key(path, key):
    with SqliteStore(path, key=key) as store:
        items = memory_of(store).add_many("k", ["green tea", "milk"])
    with SqliteStore(path, key=key) as store:
        assert list(memory_of(store).list("k")) == list(reversed(items))
        assert texts_of(memory_of(store).list("k", query="tea")) == ["green tea"]


@pytest.mark.parametrize("other", ["another passphrase", PASSPHRASE.upper(), bytes(32), RAW.hex()])
def test_a_wrong_key_is_a_clear_error_that_changes_nothing(path, key, other):
    with SqliteStore(path, key=key) as store:
        memory_of(store).add("k", "tea")
    before = path.read_bytes()
    with pytest.raises(StorageFailedError, match="cannot be read with this key"):
        SqliteStore(path, key=other)
    with pytest.raises(StorageFailedError, match="it is encrypted and needs its key"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_an_unencrypted_file_opened_with_a_key_is_a_clear_error_that_changes_nothing(path, key):
    with SqliteStore(path) as store:
        memory_of(store).add("k", "tea")
    before = path.read_bytes()
    with pytest.raises(StorageFailedError, match="is not encrypted"):
        SqliteStore(path, key=key)
    assert path.read_bytes() == before


def test_a_wrong_key_does_not_release_the_locks_of_who_has_the_file_open(path, store):
    memory_of(store).add("k", "tea")
    with pytest.raises(StorageFailedError):
        SqliteStore(path, key="wrong passphrase")
    locks = Path("/proc/locks")
    if not locks.exists():
        pytest.skip("this system does not list its locks")
    assert f":{path.stat().st_ino} " in locks.read_text()


@pytest.mark.parametrize("bad", ["", b"", b"short", b"x" * 31, 3, ["k"], "raw:" + "00" * 32])
def test_what_is_no_key_is_refused_without_showing_it(path, bad):
    with pytest.raises(MemoryInvalidError, match="must be a passphrase") as error:
        SqliteStore(path, key=bad)
    assert "short" not in str(error.value)
    assert "xxx" not in str(error.value)
    assert not path.exists()


def test_a_database_in_memory_takes_no_key(key):
    with pytest.raises(MemoryInvalidError, match="in memory"):
        SqliteStore(":memory:", key=key)


def test_the_key_shows_in_no_repr_error_or_log(path, caplog):
    caplog.set_level(logging.DEBUG)
    key = "tangerine-4711"
    shown = []
    with SqliteStore(path, key=key) as store:
        memory = memory_of(store)
        memory.add("k", "tea")
        shown += [repr(store), repr(store.secret), str(store.secret), repr(memory), repr(vars(store))]
        with pytest.raises(TypeError) as unpicklable:
            pickle.dumps(store.secret)
        shown.append(str(unpicklable.value))
    for wrong in ("tangerine-4712", None):
        with pytest.raises(StorageFailedError) as error:
            SqliteStore(path, key=wrong)
        shown += traceback.format_exception(error.value)
    for one in (*shown, caplog.text):
        assert "tangerine" not in one.replace('key="tangerine', "").replace("tangerine-4712", "")
        assert b"tangerine".hex() not in one


def test_vectors_are_searched_in_sql_and_words_with_fts_as_ever(store, monkeypatch):
    monkeypatch.setattr(search, "_LOADED_AT_ONCE", 0)
    memory = memory_of(store)
    memory.add_many("k", [f"text {number}" for number in range(50)])
    assert store.read(can_scan)
    assert texts_of(memory.list("k", query="text 7", limit=1)) == ["text 7"]

    def words(connection):
        connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES('green tea'),('milk')"
        )
        return connection.execute("SELECT text FROM words WHERE words MATCH 'tea'").fetchall()

    assert store.write(words) == [("green tea",)]


def test_the_scores_are_those_of_an_unencrypted_database(path, store):
    texts = [f"text {number} of many" for number in range(40)]
    with SqliteStore(path.with_name("plain.db")) as plain:
        found = []
        for one in (store, plain):
            memory = memory_of(one)
            memory.add_many("k", texts)
            found.append([(item.text, item.score) for item in memory.list("k", query="text 7 of", limit=40)])
    assert [text for text, _ in found[0]] == [text for text, _ in found[1]]
    assert np.array_equal([score for _, score in found[0]], [score for _, score in found[1]])


def test_a_forked_child_opens_the_database_with_the_key_too(path, store):
    memory = memory_of(store)
    memory.add("k", "tea")
    assert in_forked_child(lambda: (memory_of(store).add("k", "milk"), texts_of(memory_of(store).list("k")))[1]) == [
        "milk",
        "tea",
    ]
    assert memory.count("k") == 2


def test_erasure_history_backup_and_restoring_work_with_a_key(path, key):
    backup = path.with_name("backup.db")
    with SqliteStore(path, key=key, history=True) as store:
        memory, verbs = memory_of(store), blocking(store)
        items = memory.add_many("facts#sam", ["green tea", "milk"])
        memory.clear("facts#sam")
        assert verbs.undo("facts#sam").restored == [item.id for item in items]
        assert verbs.backup(backup).keys == {"facts#sam": 2}
        assert verbs.erase("sam").keys == {"facts#sam": 2}
        assert verbs.restore(backup).keys == {"facts#sam": 2}
        assert texts_of(memory.list("facts#sam", query="tea")) == ["green tea"]
    with SqliteStore(backup, key=key) as copy:
        assert memory_of(copy).count("facts#sam") == 2
    with pytest.raises(StorageFailedError, match="needs its key"):
        SqliteStore(backup)


def test_a_backup_with_another_key_or_none_is_refused(path, store):
    memory_of(store).add("k", "tea")
    for number, other in enumerate(["another passphrase", None]):
        backup = path.with_name(f"{number}.db")
        with SqliteStore(backup, key=other) as foreign:
            memory_of(foreign).add("k", "wine")
        with pytest.raises(StorageFailedError, match=r"with this key|not encrypted"):
            blocking(store).restore(backup)
    assert texts_of(memory_of(store).list("k")) == ["tea"]


def test_temporary_tables_and_sorting_stay_in_memory(path, store):
    assert store.read(lambda connection: connection.execute("PRAGMA temp_store").get) == 2
    memory_of(store).add_many("k", TEXTS)
    rows = store.read(lambda connection: connection.execute("SELECT text FROM memory_items ORDER BY text").fetchall())
    assert len(rows) == 300


def test_all_providers_share_one_encrypted_file(store):
    blocking(SqliteMemory(store)).add("k", "tea")
    chat = blocking(ChatStorage(store, embedder=HashEmbedder()))
    chat.save_message("talk", "user", "I like green tea in the morning")
    assert memory_of(store).reindex() == 1
    assert texts_of(memory_of(store).list("k", query="tea")) == ["tea"]
    assert len(chat.search_messages("green tea")) == 1


def test_another_sqlite_cannot_read_it(path, store):
    memory_of(store).add("k", "tea")
    with closing(apsw.Connection(str(path))) as plain, pytest.raises(apsw.NotADBError):
        plain.execute("SELECT * FROM sqlite_schema").fetchall()
