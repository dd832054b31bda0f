"""Documents under paths, with vectors, in a SQLite file: compared with plain lists and exact products."""

from contextlib import closing, suppress

import apsw
import numpy as np
import pytest

from vectormem import MemoryInvalidError, SqliteStore, SqliteVectorMemory, blocking
from vectormem.index.search import exact_scores
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite import documents as module
from vectormem.stores.sqlite import search
from vectormem.stores.sqlite.document_space import Draft, decode_path, encode_path
from vectormem.stores.sqlite.documents import Documents
from vectormem.testing import HashEmbedder

KIND = VectorKind("e", 8)
LABELS = ["", "a", "ab", "a\0", "\0\1", "\1", "é", "😀", "%", "_", "*", "'", '"', ".", "/", " "]


@pytest.fixture(params=[":memory:", "a file"])
def store(request, tmp_path):
    with SqliteStore(request.param if request.param == ":memory:" else tmp_path / "m.db") as store:
        yield store


@pytest.fixture
def documents(store):
    return Documents(store, "root")


def unit(rng, count):
    rows = rng.standard_normal((count, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def put(documents, path, key, value="{}", *, now=1, ttl=None, vectors=()):
    matrix = np.array(vectors, np.float32).reshape(len(vectors), 8)
    documents.change(lambda writer: writer.put(path, Draft(key, value, now, ttl), "e", matrix))


def keys(documents, prefix=()):
    return documents.read(lambda reader: [one.key for one in reader.newest(prefix)])


def nearest(documents, query, prefix=(), first=3):
    def look(reader):
        return [(one.key, score) for one, score in reader.nearest(prefix, KIND, query, first=first)]

    return documents.read(look)


@pytest.mark.parametrize("one", LABELS, ids=ascii)
def test_a_path_of_any_labels_is_decoded_as_it_was(one):
    for path in [(one,), (one, "x"), ("x", one), (one, one)]:
        assert decode_path(encode_path(path)) == path


def test_paths_sort_as_their_labels_do():
    paths = [(one, other) for one in LABELS for other in LABELS]
    assert sorted(paths, key=encode_path) == sorted(paths)


@pytest.mark.parametrize("label", [1, None, "\ud83d", b"a"])
def test_what_is_no_text_is_no_label(label):
    with pytest.raises(MemoryInvalidError):
        encode_path(("a", label))


def test_a_prefix_holds_what_is_below_it_and_nothing_beside_it(documents):
    """langchain-ai/langgraph#8478, langchain-ai/langgraphjs#2512"""
    paths = [(one, other) for one in LABELS for other in LABELS]
    for path in paths:
        put(documents, path, repr(path))
    for label in LABELS:
        assert sorted(keys(documents, (label,))) == sorted(repr(path) for path in paths if path[0] == label)
        assert documents.read(lambda reader, label=label: reader.paths((label,))) == sorted(
            path for path in paths if path[0] == label
        )


def test_roots_are_apart(store, documents):
    put(documents, ("a",), "k")
    assert keys(Documents(store, "root2")) == []


def test_a_replaced_document_is_the_newest_and_keeps_when_it_was_made(documents):
    put(documents, ("a",), "one", now=1)
    put(documents, ("b",), "two", now=2)
    put(documents, ("a",), "one", '{"x":1}', now=3)
    assert keys(documents) == ["one", "two"]
    found = documents.read(lambda reader: reader.get(("a",), "one"))
    assert (found.value, found.created_at, found.updated_at) == ('{"x":1}', 1, 3)


def test_a_change_that_fails_changes_nothing(documents):
    put(documents, ("a",), "one")

    def change(writer):
        writer.put(("a",), Draft("two", "{}", 1, None), "e", np.empty((0, 8), np.float32))
        writer.delete(("a",), "one")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        documents.change(change)
    assert keys(documents) == ["one"]


def test_the_best_vector_of_a_document_counts(documents):
    x, y = np.eye(8, dtype=np.float32)[:2]
    put(documents, ("a",), "both", vectors=[y, x])
    put(documents, ("a",), "between", vectors=[(x + y) / np.float32(np.sqrt(2))])
    found = nearest(documents, x)
    assert [key for key, _ in found] == ["both", "between"]
    assert [score for _, score in found] == pytest.approx([1.0, np.sqrt(0.5)])


@pytest.mark.parametrize(("loaded_at_once", "most_merged"), [(500, 64), (-1, 64), (500, 1)])
def test_ranks_are_those_of_the_exact_products_after_any_changes(documents, monkeypatch, loaded_at_once, most_merged):
    monkeypatch.setattr(search, "_LOADED_AT_ONCE", loaded_at_once)
    monkeypatch.setattr(module, "_MOST_MERGED", most_merged)
    rng, kept = np.random.default_rng(7), {}
    for step in range(120):
        path, key = ("p", str(rng.integers(3))), str(rng.integers(25))
        if rng.random() < 0.3:
            documents.change(lambda writer, at=(path, key): writer.delete(*at))
            kept.pop((path, key), None)
        else:
            vectors = unit(rng, int(rng.integers(3)))
            put(documents, path, key, vectors=list(vectors))
            kept[path, key] = vectors
        if step % 10 == 9:
            query = unit(rng, 1)[0]
            expected = {one: exact_scores(rows, query).max() for one, rows in kept.items() if len(rows)}
            for prefix in [("p",), ("p", "1")]:
                wanted = sorted((s for (at, _), s in expected.items() if at[: len(prefix)] == prefix), reverse=True)
                assert [score for _, score in nearest(documents, query, prefix)] == pytest.approx(wanted)


def test_another_connection_sees_what_was_changed(tmp_path):
    with SqliteStore(tmp_path / "m.db") as one, SqliteStore(tmp_path / "m.db") as other:
        x, y = np.eye(8, dtype=np.float32)[:2]
        put(Documents(one, "root"), ("a",), "k", vectors=[x])
        assert nearest(Documents(other, "root"), x) == [("k", 1.0)]
        put(Documents(one, "root"), ("a",), "k", vectors=[y])
        assert nearest(Documents(other, "root"), x) == [("k", 0.0)]
        Documents(one, "root").change(lambda writer: writer.clear(()))
        assert nearest(Documents(other, "root"), x) == []
        put(Documents(one, "root"), ("a",), "new", vectors=[x])
        assert nearest(Documents(other, "root"), x) == [("new", 1.0)]


def test_nothing_is_left_of_what_was_deleted(store, documents):
    put(documents, ("a",), "k", '{"secret":1}', vectors=list(np.eye(8)[:3]))
    put(documents, ("a",), "k", '{"secret":2}', vectors=list(np.eye(8)[:2]))
    documents.change(lambda writer: writer.delete(("a",), "k"))
    for table in ("document_spaces", "documents", "document_vectors", "document_changes"):
        assert store.read(lambda c, table=table: c.execute(f"SELECT count(*) FROM {table}").get) == 0


def test_a_document_of_which_the_time_is_over_is_swept(documents):
    put(documents, ("a",), "short", now=10, ttl=5)
    put(documents, ("a",), "long", now=10, ttl=50)
    put(documents, ("a",), "for ever", now=10)
    assert documents.change(lambda writer: writer.sweep(14)) == 0
    assert documents.change(lambda writer: writer.sweep(15)) == 1
    assert keys(documents) == ["for ever", "long"]
    assert documents.read(lambda reader: reader.paths((), 99)) == [("a",)]


def test_other_vectors_are_only_for_a_document_that_is_still_as_it_was_read(documents):
    x, y = np.eye(8, dtype=np.float32)[:2]
    put(documents, ("a",), "k", vectors=[x])
    read = documents.read(lambda reader: reader.get(("a",), "k"))
    assert documents.change(lambda writer: writer.set_vectors(read, "e", np.array([y])))
    assert nearest(documents, y) == [("k", 1.0)]
    put(documents, ("a",), "k", "{}", now=2, vectors=[x])
    assert not documents.change(lambda writer: writer.set_vectors(read, "e", np.array([y])))
    assert nearest(documents, x) == [("k", 1.0)]


def test_an_older_copy_of_the_file_put_in_its_place_is_searched_as_it_is(tmp_path):
    x, y = np.eye(8, dtype=np.float32)[:2]
    with SqliteStore(tmp_path / "old.db") as store:
        put(Documents(store, "root"), ("a",), "k", vectors=[x])
    old = (tmp_path / "old.db").read_bytes()
    (tmp_path / "m.db").write_bytes(old)
    with SqliteStore(tmp_path / "m.db") as store:
        documents = Documents(store, "root")
        for _ in range(3):
            put(documents, ("a",), "k", vectors=[y])
        assert nearest(documents, y) == [("k", 1.0)]
        store._connections._close_all()
        for path in tmp_path.glob("m.db-*"):
            path.unlink()
        (tmp_path / "m.db").write_bytes(old)

        def search_and_change(writer):
            found = [one.key for one, score in writer.nearest((), KIND, x, first=3) if score == 1]
            writer.put(("a",), Draft("new", "{}", 1, None), "e", np.array([x]))
            return found

        assert documents.change(search_and_change) == ["k"]
        assert sorted(key for key, _ in nearest(documents, x)) == ["k", "new"]


def test_a_reading_that_stops_half_way_leaves_no_transaction_open(tmp_path):
    """thedotmack/claude-mem#1836"""
    with SqliteStore(tmp_path / "m.db") as store:
        documents = Documents(store, "root")
        for number in range(50):
            put(documents, ("a", str(number % 3)), str(number), vectors=[np.eye(8)[0]])
        documents.read(lambda reader: next(reader.newest(())))
        documents.read(lambda reader: next(reader.nearest((), KIND, np.eye(8, dtype=np.float32)[0], first=3)))
        with suppress(ZeroDivisionError):
            documents.read(lambda reader: [1 / 0 for _ in reader.newest(())])
        put(documents, ("a",), "last")
        with closing(apsw.Connection(str(tmp_path / "m.db"))) as other:
            other.execute("SELECT count(*) FROM documents").fetchall()
            assert other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) == (0, 0)


def test_memory_and_documents_share_a_file_and_an_embedder(store, documents):
    memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder(8)))
    memory.add("k", "green tea")
    put(documents, ("a",), "k", vectors=[np.eye(8)[0]])
    memory.clear("k")
    assert keys(documents) == ["k"]
