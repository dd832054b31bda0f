"""Erasing a scope key: gone from every table and every byte, and from nobody else's."""

import asyncio
import threading
from contextlib import closing

import apsw
import pytest

from tests.conftest import texts_of
from tests.stores.raw_files import RandomEmbedder, places_of
from vectormem import (
    ChatStorage,
    MemoryInvalidError,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
    StorageFailedError,
    blocking,
    define_memory,
    migrate_memory_keys,
)

EMBEDDER = RandomEmbedder()
TABLES = ("memory_keys", "memory_items", "memory_vectors", "memory_changes", "memory_copied")
CHAT_TABLES = ("chat_keys", "chat_conversations", "chat_messages", "chat_vectors", "chat_words")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


def memory_of(store):
    return blocking(SqliteVectorMemory(store, embedder=EMBEDDER))


def chat_of(store, scope_key):
    return blocking(ChatStorage(store, embedder=EMBEDDER, scope_key=scope_key, ranking="hybrid"))


def rows(path, tables):
    with closing(apsw.Connection(str(path))) as connection:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in tables}


def test_no_byte_of_an_erased_scope_key_is_left_in_any_file(path):
    texts = [f"needle {number} of Sam: vegetarian, Oslo, the cello" for number in range(50)]
    with SqliteStore(path, history=True) as store:
        memory = memory_of(store)
        items = memory.add_many("facts#user:sam", texts, metadata={"note": "needlework"})
        memory.remove("facts#user:sam", items[0].id)
        memory.add("facts#user:ann", "Ann likes tea and nothing else")
        said = chat_of(store, "user:sam").save_message("needle-talk", "user", "a needle that was said in a chat")
        assert blocking(store).erase("user:sam") == ({"facts#user:sam": 49}, 1, 51, 0)
    for one in (
        "needle",
        "user:sam",
        said.id,
        *(item.id for item in items),
        *map(EMBEDDER.stored, [*texts, said.content]),
    ):
        assert places_of(one, path.parent) == []
    assert places_of("Ann likes tea", path.parent) == ["memory.db"]


def test_every_table_is_rid_of_the_key_and_of_nothing_else(path):
    with SqliteStore(path) as store:
        memory = memory_of(store)
        for key in ("facts#sam", "notes#sam", "sam"):
            memory.add_many(key, [f"{key} {number}" for number in range(3)])
        chat_of(store, "sam").save_message("talk", "user", "what Sam said in a chat")
        kept = ["facts#sam2", "facts#Sam", "facts#x#sam", "facts#%", "sam#facts", "facts#"]
        for key in kept:
            memory.add(key, "tea for all")
        chat_of(store, "facts#sam").save_message("talk", "user", "a chat of another scope")
        assert blocking(store).erase("sam") == ({"facts#sam": 3, "notes#sam": 3, "sam": 3}, 1, 0, 0)
        assert list(memory.scope_keys()) == sorted(kept)
        assert [one.id for one in chat_of(store, "facts#sam").conversations()] == ["talk"]
        assert chat_of(store, "sam").conversations() == []
    found = rows(path, (*TABLES, *CHAT_TABLES))
    assert (found["memory_keys"], found["memory_items"], found["memory_vectors"]) == (6, 6, 6)
    assert (found["chat_keys"], found["chat_messages"], found["chat_conversations"]) == (1, 1, 1)


def test_a_whole_memory_key_means_that_memory_alone(path):
    with SqliteStore(path) as store:
        memory = memory_of(store)
        memory.add("facts#sam", "tea")
        memory.add("notes#sam", "milk")
        chat_of(store, "sam").save_message("talk", "user", "what Sam said")
        assert blocking(store).erase("facts#sam") == ({"facts#sam": 1}, 0, 0, 0)
        assert list(memory.scope_keys()) == ["notes#sam"]
        assert len(chat_of(store, "sam").conversations()) == 1


def test_what_a_migration_remembers_of_a_key_is_erased_too(path):
    async def use():
        async with SqliteStore(path) as store:
            provider = SqliteMemory(store)
            item = await provider.add("user:sam", "an old item under the bare key")
            slot = define_memory(name="facts", scope=lambda context: "user:sam", provider=provider)
            await migrate_memory_keys(slot, contexts=[None], remove_legacy=True)
            await provider.clear("facts#user:sam")
            erased = await store.erase("user:sam")
            return item, erased

    item, erased = asyncio.run(use())
    assert erased.keys == {"facts#user:sam": 0}
    assert places_of(item.id, path.parent) == []
    assert rows(path, TABLES) == dict.fromkeys(TABLES, 0)


def test_a_text_that_another_key_holds_too_stays_there_and_is_no_trace(path):
    text = "Both of them like green tea in the morning"
    with SqliteStore(path) as store:
        memory = memory_of(store)
        memory.add("facts#sam", text)
        memory.add("facts#ann", text)
        memory.add("facts#bob", f"They wrote: {text}. And more.")
        assert blocking(store).erase("sam").keys == {"facts#sam": 1}
        assert texts_of(memory.list("facts#ann", query=text)) == [text]


def test_the_same_store_and_others_find_nothing_of_the_key_any_more_and_can_begin_anew(path):
    with SqliteStore(path) as store, SqliteStore(path) as other:
        memory, elsewhere = memory_of(store), memory_of(other)
        memory.add_many("facts#sam", ["green tea", "milk"])
        for one in (memory, elsewhere):
            assert texts_of(one.list("facts#sam", query="green tea")) == ["green tea"]
        blocking(store).erase("sam")
        for one in (memory, elsewhere):
            assert one.list("facts#sam", query="green tea") == []
            assert one.list("facts#sam") == []
        memory.add("facts#sam", "black tea")
        assert texts_of(elsewhere.list("facts#sam", query="black tea")) == ["black tea"]


def test_an_open_reader_holds_the_erasure_back_and_the_error_says_so(path):
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as reader:
        memory_of(store).add("facts#sam", "a needle in the haystack")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory_items").fetchall()
        with pytest.raises(StorageFailedError, match=r"memory\.db-wal.*another connection.*erase the key again"):
            blocking(store).erase("sam", wait_seconds=0)
        assert memory_of(store).list("facts#sam") == []
        reader.execute("COMMIT")
        assert blocking(store).erase("sam", wait_seconds=0) == ({}, 0, 0, 0)
    assert places_of("needle", path.parent) == []


def test_an_erasure_waits_for_a_reader_that_ends_in_time(path):
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as reader:
        memory_of(store).add("facts#sam", "a needle in the haystack")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory_items").fetchall()
        done = []
        erasing = threading.Thread(target=lambda: done.append(blocking(store).erase("sam", wait_seconds=60)))
        erasing.start()
        while memory_of(store).count("facts#sam"):
            pass
        assert done == []
        reader.execute("COMMIT")
        erasing.join()
    assert done == [({"facts#sam": 1}, 0, 0, 0)]
    assert places_of("needle", path.parent) == []


def test_bytes_that_no_row_explains_are_reported_with_their_file(path):
    journal = path.with_name("memory.db-journal")
    with SqliteStore(path) as store:
        memory_of(store).add("facts#sam", "a needle in the haystack")
        journal.write_bytes(b"\0" * 600 + b"a needle in the haystack" + b"\0" * 600)
        with pytest.raises(StorageFailedError, match=r"still stand in .*memory\.db-journal"):
            blocking(store).erase("sam")
        journal.unlink()


def test_a_key_that_nobody_has_erases_nothing(path):
    with SqliteStore(path) as store:
        memory_of(store).add("facts#sam", "tea")
        assert blocking(store).erase("nobody") == ({}, 0, 0, 0)
        assert memory_of(store).count("facts#sam") == 1


@pytest.mark.parametrize("key", ["", None, 3, "nul\0byte"])
def test_what_is_no_scope_key_is_refused(path, key):
    with SqliteStore(path) as store, pytest.raises(MemoryInvalidError):
        blocking(store).erase(key)


def test_a_database_in_memory_can_be_erased_from():
    with SqliteStore(":memory:") as store:
        memory_of(store).add("facts#sam", "tea")
        assert blocking(store).erase("sam") == ({"facts#sam": 1}, 0, 0, 0)
        assert memory_of(store).list("facts#sam") == []


def test_other_tables_of_the_file_are_left_alone(path):
    with closing(apsw.Connection(str(path))) as foreign:
        foreign.execute(
            'CREATE TABLE "odd "" name"(x, y BLOB); INSERT INTO "odd "" name" VALUES(\'for user:sam\', x\'00\')'
        )
    with SqliteStore(path) as store:
        memory_of(store).add("facts#user:sam", "Tea for Sam, always")
        assert blocking(store).erase("user:sam").keys == {"facts#user:sam": 1}
    with closing(apsw.Connection(str(path))) as foreign:
        assert foreign.execute('SELECT x FROM "odd "" name"').fetchall() == [("for user:sam",)]
