"""What adapters keep beside memories: erased by scope key, wiped after deletions, and part of every backup."""

import asyncio
import random
from contextlib import closing

import apsw
import numpy as np
import pytest

from tests.stores.raw_files import RandomEmbedder, places_of
from vectormem import SqliteMemory, SqliteStore, blocking
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.checkpoints import TABLES as CHECKPOINTS
from vectormem.stores.sqlite.checkpoints import Checkpoints, Place, Write
from vectormem.stores.sqlite.conversations import ConversationRow, EntryRow, SqliteConversationRows
from vectormem.stores.sqlite.document_space import Draft, encode_path
from vectormem.stores.sqlite.documents import Documents
from vectormem.stores.sqlite.sessions import SqliteSession

EMBEDDER = RandomEmbedder()
KIND = VectorKind(EMBEDDER.id, EMBEDDER.dimensions)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


def unit(text):
    """The vector of a text, of unit length, as a matrix of one row."""
    return np.frombuffer(EMBEDDER.stored(text), "<f4").reshape(1, -1)


def long(needle):
    """Return a text with up to three thousand letters behind it, not many as a rule."""
    return needle + " w" * (random.Random(needle).randrange(38) ** 2)


class Session:
    """A session of the OpenAI Agents SDK."""

    count = 40

    def __init__(self, store, scope_key):
        self.rows = SqliteSession(store, scope_key, f"session-{scope_key}")

    def fill(self, needle):
        items = [long(f'{{"said": "{needle}{number:03} in a session"}}') for number in range(self.count)]
        asyncio.run(self.rows.change(lambda rows: rows.append(items)))

    def read(self):
        return asyncio.run(self.rows.read(lambda rows: rows.newest()))

    def delete(self):
        asyncio.run(self.rows.change(lambda rows: rows.clear()))


class Conversation:
    """A conversation of pydantic-ai, with a branch that it has left and a paused run."""

    count = 40

    def __init__(self, store, scope_key):
        self.scope_key = scope_key
        self.rows = SqliteConversationRows(store, scope_key)

    def fill(self, needle):
        ids = [f"{self.scope_key}-entry-{number:03}" for number in range(self.count)]
        entries = [
            EntryRow(one, before, long(f"{needle} {one}")) for one, before in zip(ids, [None, *ids], strict=False)
        ]
        row = ConversationRow("talk", None, ids[-1], "r1", 1, f'"{needle} in a record"')
        assert self.rows.write(row, [ids[5]], entries, None)
        self.rows.keep_pause("talk", f"{self.scope_key}-run", f'"{needle} in a pause"')

    def read(self):
        record, pause = self.rows.record("talk"), self.rows.pause(f"{self.scope_key}-run")
        return [] if record is None else [record, pause, *self.rows.history(f"{self.scope_key}-entry-039", None)]

    def delete(self):
        assert self.rows.delete("talk", "r1")


class Namespace:
    """Documents with vectors in a namespace of LangGraph's store."""

    count = 40

    def __init__(self, store, scope_key):
        self.place = ("memories", scope_key, "likes")
        self.documents = Documents(store, "langgraph")

    def fill(self, needle):
        def change(writer):
            for number in range(self.count):
                text = f"{needle}{number:03} in a document"
                draft = Draft(f"{needle} key {number}", f'{{"text": "{long(text)}"}}', 1, None)
                writer.put(self.place, draft, EMBEDDER.id, unit(text))

        self.documents.change(change)

    def read(self):
        query = np.ones(EMBEDDER.dimensions, np.float32) / 8
        return self.documents.read(
            lambda reader: [
                (one.key, round(score, 4))
                for one, score in reader.nearest(("memories",), KIND, query, first=99)
                if one.path == encode_path(("langgraph", *self.place))
            ]
        )

    def delete(self):
        self.documents.change(lambda writer: writer.clear(self.place))


class Thread:
    """Checkpoints of a thread of LangGraph, with writes that wait."""

    count = 40

    def __init__(self, store, scope_key):
        self.store, self.thread = store, scope_key

    def fill(self, needle):
        def change(connection):
            rows = Checkpoints(CHECKPOINTS.made_in(connection))
            for number in range(self.count):
                place = Place(self.thread, "", f"{self.thread}-{number:03}")
                value = long(f"{needle}{number:03} in a channel").encode()
                state, metadata = f"{needle} {number} in a state".encode(), f"{needle} {number} in metadata".encode()
                rows.put(place, None, None, ("msgpack", state), ("msgpack", metadata), {"c": ("bytes", value)})
                write = Write("", "task", 0, "c", "bytes", f"{needle} {number} in a write".encode())
                rows.put_writes(place, [write], replace=False)

        self.store.write(change)

    def read(self):
        def look(connection):
            rows = Checkpoints(CHECKPOINTS.seen_in(connection))
            return [
                (one, rows.values(one), rows.writes(one.place)) for one in rows.page({"thread": self.thread}, None, -1)
            ]

        return self.store.read(look)

    def delete(self):
        self.store.write(lambda connection: Checkpoints(connection).delete_thread(self.thread))


KINDS = [Session, Conversation, Namespace, Thread]


@pytest.mark.parametrize("kind", KINDS)
def test_no_byte_of_what_was_deleted_is_left_once_the_store_is_closed(path, kind):
    """SQLite's secure_delete alone leaves copies of what was moved when pages were split."""
    scope_keys = [f"user:{number:02}" for number in range(24)]
    random.Random(1).shuffle(scope_keys)
    with SqliteStore(path) as store:
        for scope_key in scope_keys:
            kind(store, scope_key).fill(f"needle of {scope_key} ")
        for scope_key in scope_keys[12:]:
            kind(store, scope_key).delete()
        assert [one for one in scope_keys if kind(store, one).read()] == scope_keys[:12]
    content = path.read_bytes()
    assert [one for one in scope_keys if f"needle of {one}".encode() in content] == scope_keys[:12]


@pytest.mark.parametrize("kind", KINDS)
def test_erasing_a_scope_key_leaves_no_byte_of_it_and_all_of_others(path, kind):
    with SqliteStore(path) as store:
        for scope_key in ("user:sam", "user:ann", "user:samuel"):
            kind(store, scope_key).fill(f"needle of <{scope_key}> ")
        kept = [kind(store, one).read() for one in ("user:ann", "user:samuel")]
        assert blocking(store).erase("user:sam") == ({}, 0, 0, kind.count)
        assert kind(store, "user:sam").read() == []
        assert [kind(store, one).read() for one in ("user:ann", "user:samuel")] == kept
        assert blocking(store).erase("user:sam") == ({}, 0, 0, 0)
    for needle in ("needle of <user:sam>", "user:sam-", "session-user:sam\0"):
        assert places_of(needle, path.parent) == []
    assert places_of("needle of <user:samuel>", path.parent) == ["memory.db"]
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_the_vectors_of_erased_documents_are_gone_too(path):
    with SqliteStore(path) as store:
        Namespace(store, "user:sam").fill("needle")
        Namespace(store, "user:ann").fill("tea")
        blocking(store).erase("user:sam")
    assert places_of(EMBEDDER.stored("needle007 in a document"), path.parent) == []
    assert places_of(EMBEDDER.stored("tea007 in a document"), path.parent) == ["memory.db"]


def test_a_scope_key_is_a_whole_label_below_the_root_of_documents(path):
    with SqliteStore(path) as store:
        documents = Documents(store, "langgraph")
        for place in (
            ("sam",),
            ("users", "sam"),
            ("users", "sam", "deep"),
            ("users", "samuel"),
            ("langgraph", "x"),
            (),
        ):
            documents.change(
                lambda writer, place=place: writer.put(place, Draft("k", "{}", 1, None), "", np.empty((0, 0)))
            )
        assert blocking(store).erase("sam").others == 3
        assert documents.read(lambda reader: reader.paths(())) == [(), ("langgraph", "x"), ("users", "samuel")]
        assert blocking(store).erase("langgraph").others == 1
        assert documents.read(lambda reader: reader.paths(())) == [(), ("users", "samuel")]


def test_the_scope_key_of_a_session_names_its_thread(path):
    with SqliteStore(path) as store:
        for thread in ("monday", "tuesday"):
            Thread(store, thread).fill("tea")
        assert blocking(store).erase("session:monday").others == 40
        assert (Thread(store, "monday").read(), len(Thread(store, "tuesday").read())) == ([], 40)


def test_bytes_of_a_checkpoint_that_no_row_explains_are_found(path):
    journal = path.with_name("memory.db-journal")
    with SqliteStore(path) as store:
        Thread(store, "sam").fill("needle of a state that is long enough to be told from chance")
        value = long("needle of a state that is long enough to be told from chance007 in a channel").encode()
        journal.write_bytes(b"\0" * 600 + value + b"\0" * 600)
        with pytest.raises(Exception, match=r"still stand in .*memory\.db-journal"):
            blocking(store).erase("sam")
        journal.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_holds_it_and_a_restore_brings_it_back(path, kind):
    with SqliteStore(path) as store, SqliteStore(path) as other:
        kind(store, "sam").fill("tea")
        kept = kind(store, "sam").read()
        assert len(kept) >= kind.count
        blocking(store).backup(path.with_name("monday.db"))
        kind(store, "sam").delete()
        kind(store, "sam").fill("milk")
        assert kind(other, "sam").read() == kind(store, "sam").read() != kept
        blocking(store).restore(path.with_name("monday.db"))
        assert kind(store, "sam").read() == kept
        assert kind(other, "sam").read() == kept


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_from_before_the_tables_can_be_restored_and_they_are_made_anew(path, kind):
    with SqliteStore(path) as store:
        blocking(SqliteMemory(store)).add("k", "tea")
        blocking(store).backup(path.with_name("monday.db"))
        part = kind(store, "sam")
        part.fill("tea")
        blocking(store).restore(path.with_name("monday.db"))
        assert part.read() == []
        part.fill("milk")
        assert len(part.read()) >= kind.count


def test_an_index_in_memory_is_never_taken_for_that_of_a_restored_file(path):
    """The restored file comes back to the version that the index had, by other documents."""

    def put(documents, text):
        vector = unit(text)
        documents.change(lambda writer: writer.put(("a",), Draft(text, "{}", 1, None), EMBEDDER.id, vector))

    def nearest_to(documents, text):
        query = unit(text)[0]
        found = documents.read(lambda reader: list(reader.nearest(("a",), KIND, query, first=1)))
        return found[0][0].key, round(found[0][1], 4)

    with SqliteStore(path) as store, SqliteStore(path) as other:
        here, there = Documents(store, "langgraph"), Documents(other, "langgraph")
        put(here, "tea")
        blocking(store).backup(path.with_name("monday.db"))
        put(here, "milk")
        assert nearest_to(there, "milk") == ("milk", 1.0)
        blocking(store).restore(path.with_name("monday.db"))
        put(here, "wine")
        assert nearest_to(there, "wine") == ("wine", 1.0)


@pytest.mark.parametrize("kind", [Session, Namespace, Thread])
def test_what_only_adds_is_no_deletion(path, kind):
    with SqliteStore(path) as store:
        kind(store, "sam").fill("tea")
        assert store._has_deleted is False
        kind(store, "sam").delete()
        assert store._has_deleted is True
