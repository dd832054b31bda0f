"""What deleted rows leave behind in a database file, searched in its bytes after each store has been closed."""

import asyncio
import random
import struct
import subprocess
import sys
import threading
from contextlib import closing

import apsw
import pytest

from tests.conftest import in_forked_child
from tests.stores.raw_files import RandomEmbedder, contents, places_of
from vectormem import ChatStorage, SqliteMemory, SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores.sqlite import wipe as wiping

EMBEDDER = RandomEmbedder()


def needle(rng):
    return f"needle{rng.getrandbits(64):016x} "


@pytest.mark.parametrize("seed", range(6))
def test_after_any_adds_and_removals_no_byte_of_a_removed_item_is_left(tmp_path, seed):
    """SQLite's secure_delete alone leaves copies where pages were split: with these seeds, texts, ids and vectors."""
    rng = random.Random(seed)
    path = tmp_path / "memory.db"
    live, gone = {}, []
    with blocking(SqliteVectorMemory(path, embedder=EMBEDDER, max_items=None)) as memory:
        for _ in range(300):
            if rng.random() < 0.7 or not live:
                text = needle(rng) + "w" * rng.randrange(10, 3000)
                item = memory.add("k", text, metadata={"note": needle(rng)})
                live[item.id] = item
            else:
                gone.append(live.pop(rng.choice(sorted(live))))
                assert memory.remove("k", gone[-1].id)
    assert left_of(gone, path.read_bytes()) == []
    assert len(left_of(live.values(), path.read_bytes())) == 4 * len(live)


def left_of(items, content):
    """Return the needles of items that some bytes hold: of texts, ids, metadata and vectors."""
    needles = [
        one
        for item in items
        for one in (item.text[:22].encode(), item.id.encode(), item.metadata["note"].encode(), stored(item.text))
    ]
    return [one for one in needles if one in content]


def stored(text):
    return EMBEDDER.stored(text)


@pytest.mark.parametrize("seed", range(3))
def test_after_any_saves_and_deletions_no_byte_of_a_deleted_message_is_left(tmp_path, seed):
    rng = random.Random(seed)
    live, gone = {}, []
    with blocking(ChatStorage(tmp_path / "chats.db", embedder=EMBEDDER, ranking="hybrid")) as chat:
        for number in range(150):
            if rng.random() < 0.7 or not live:
                content = needle(rng) + " ".join(needle(rng) for _ in range(rng.randrange(40)))
                message = chat.save_message(f"talk{number % 5}", "user", content)
                live[message.id] = message
            else:
                gone.append(live.pop(rng.choice(sorted(live))))
                assert chat.delete_message(gone[-1].id)
    content = (tmp_path / "chats.db").read_bytes()
    words = {word for message in gone for word in message.content.split()}
    assert [word for word in words if word.encode() in content] == []
    assert [message.id for message in gone if message.id.encode() in content] == []
    assert all(message.id.encode() in content for message in live.values())


def test_what_was_cleared_replaced_or_evicted_is_left_nowhere(tmp_path):
    rng = random.Random(1)
    with blocking(SqliteVectorMemory(tmp_path / "memory.db", embedder=EMBEDDER, max_items=20)) as memory:
        gone = [memory.add("full", needle(rng) + "w" * 500).text for _ in range(60)][:40]
        replaced = memory.add("k", "needle that is replaced later")
        memory.upsert("k", "what replaces it, and more", id=replaced.id)
        gone += [item.text for item in memory.add_many("cleared", [needle(rng) + "v" * 5000 for _ in range(20)])]
        memory.clear("cleared")
        gone.append(replaced.text)
    for text in gone:
        assert places_of(text[:22], tmp_path) == []
        assert places_of(EMBEDDER.stored(text), tmp_path) == []


def test_a_vector_that_reindexing_replaced_is_left_nowhere(tmp_path):
    path, other = tmp_path / "memory.db", RandomEmbedder(96)
    with blocking(SqliteVectorMemory(path, embedder=EMBEDDER)) as memory:
        texts = [item.text for item in memory.add_many("k", [f"text number {number}" for number in range(200)])]
    with blocking(SqliteVectorMemory(path, embedder=other)) as memory:
        assert memory.reindex() == 200
    content = path.read_bytes()
    assert [text for text in texts if EMBEDDER.stored(text) in content] == []
    assert all(other.stored(text) in content for text in texts)


def test_wiping_an_open_store_empties_the_log_and_overwrites_what_was_removed(tmp_path):
    with SqliteStore(tmp_path / "memory.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=EMBEDDER))
        item = memory.add("k", "a needle in the haystack")
        memory.remove("k", item.id)
        assert blocking(store).wipe() is True
        seen = in_another_process(tmp_path)
    assert seen["memory.db-wal"] == 0
    assert seen["needle"] == []


SEARCH = """
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
contents = {path.name: path.read_bytes() for path in folder.iterdir()}
print({name: len(content) for name, content in contents.items()}
      | {"needle": [name for name, content in contents.items() if b"needle" in content]})
"""


def in_another_process(folder):
    """Look at files while they are open here: closing one of them here would release SQLite's locks."""
    done = subprocess.run([sys.executable, "-c", SEARCH, str(folder)], capture_output=True, text=True, check=True)
    return eval(done.stdout)


def test_a_reader_holds_wiping_up_and_nothing_is_damaged(tmp_path):
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as reader:
        memory = blocking(SqliteMemory(store))
        item = memory.add("k", "a needle in the haystack")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory_items").fetchall()
        memory.remove("k", item.id)
        assert blocking(store).wipe(wait_seconds=0) is False
        assert reader.execute("SELECT text FROM memory_items").fetchall() == [("a needle in the haystack",)]
        reader.execute("COMMIT")
        assert blocking(store).wipe() is True
    assert places_of("needle", tmp_path) == []


def test_a_writer_that_comes_once_the_log_is_empty_holds_wiping_up_too(tmp_path, monkeypatch):
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as other:

        def emptied(connection, empty_log=wiping.empty_log):
            done = empty_log(connection)
            other.execute("BEGIN IMMEDIATE")
            return done

        memory = blocking(SqliteMemory(store))
        memory.remove("k", memory.add("k", "a needle in the haystack").id)
        with monkeypatch.context() as patched:
            patched.setattr(wiping, "empty_log", emptied)
            assert blocking(store).wipe(wait_seconds=0) is False
        other.execute("ROLLBACK")
        assert blocking(store).wipe() is True


def test_pages_that_others_remember_are_read_anew_once_they_were_wiped(tmp_path):
    """Else a connection would write a page back as it was, with what stood in its unused middle."""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, closing(apsw.Connection(str(path))) as other:
        memory = blocking(SqliteMemory(store))
        items = memory.add_many("k", [f"{number} " + "x" * 900 for number in range(100)])
        memory.remove("k", items[50].id)
        before = other.pragma("data_version")
        assert blocking(store).wipe() is True
        assert other.pragma("data_version") != before


def test_closing_a_store_that_deleted_nothing_rewrites_nothing(tmp_path):
    path = tmp_path / "memory.db"
    with blocking(SqliteMemory(path)) as memory:
        memory.add_many("k", [f"{number} " + "x" * 900 for number in range(100)])
    before = path.read_bytes()
    with blocking(SqliteMemory(path)) as memory:
        assert memory.count("k") == 100
    assert path.read_bytes() == before
    assert gaps(before) > 0


def gaps(content):
    """Count pages of B-trees whose unused middle is not all zeros, by the file format's own description."""
    size = struct.unpack(">H", content[16:18])[0]
    dirty = 0
    for start in range(0, len(content), size):
        header = start + (100 if start == 0 else 0)
        kind, _, cells, lowest = struct.unpack(">BHHH", content[header : header + 7])
        if kind in (2, 5, 10, 13):
            first = header + (12 if kind < 8 else 8) + 2 * cells
            dirty += any(content[first : start + (lowest or 65_536)])
    return dirty


def test_after_a_deletion_no_page_holds_anything_in_its_unused_middle(tmp_path):
    path = tmp_path / "memory.db"
    with blocking(SqliteMemory(path)) as memory:
        items = memory.add_many("k", [f"{number} " + "x" * 900 for number in range(100)])
        memory.remove("k", items[50].id)
    assert gaps(path.read_bytes()) == 0
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_file_of_other_page_sizes_is_wiped_too(tmp_path):
    for size in (512, 4096, 65_536):
        path = tmp_path / f"{size}.db"
        with closing(apsw.Connection(str(path))) as foreign:
            foreign.execute(f"PRAGMA page_size={size}; CREATE TABLE bills(amount)")
        with blocking(SqliteMemory(path)) as memory:
            items = memory.add_many("k", [f"needle{number} " + "x" * 900 for number in range(100)])
            for item in items[10:90]:
                memory.remove("k", item.id)
        content = path.read_bytes()
        assert [item.id for item in items[10:90] if item.id.encode() in content] == []
        with closing(apsw.Connection(str(path))) as connection:
            assert connection.pragma("page_size") == size
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_closing_a_store_whose_file_is_gone_makes_no_new_one(tmp_path):
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    memory = blocking(SqliteMemory(store))
    memory.remove("k", memory.add("k", "Tea.").id)
    for name in contents(tmp_path):
        (tmp_path / name).unlink()
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_database_in_memory_has_nothing_to_wipe():
    async def use():
        async with SqliteStore(":memory:") as store:
            return await store.wipe()

    assert asyncio.run(use()) is True


def test_a_fork_waits_for_who_wipes_and_the_child_can_write(tmp_path):
    """tox-dev/filelock#635"""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        memory = blocking(SqliteMemory(store, max_items=None))
        items = memory.add_many("k", [f"needle{number} " + "x" * 900 for number in range(200)])
        done = threading.Event()

        def remove_and_wipe():
            for item in items[:100]:
                memory.remove("k", item.id)
                store.wipe_now(1)
            done.set()

        wiping = threading.Thread(target=remove_and_wipe)
        wiping.start()
        forks = 0
        while not done.is_set() and forks < 8:
            name = f"child {forks}"
            assert in_forked_child(lambda name=name: blocking(SqliteMemory(store)).add("c", name).text) == name
            forks += 1
        wiping.join()
        assert memory.count("k") == 100
        assert memory.count("c") == forks
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
