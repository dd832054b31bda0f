"""Any text, key and vector that SQLite takes, Postgres takes, and gives back the same."""

import numpy as np
import pytest

from tests.conftest import FixedEmbedder, texts_of
from vectormem import (
    MemoryInvalidError,
    PostgresMemory,
    PostgresVectorMemory,
    SqliteMemory,
    SqliteStore,
    StorageFailedError,
    blocking,
)

HARD = [
    "it's 100% \"sure\" -- '; DROP TABLE memory_items; --",
    "%s %(a)s ? $1 {} \\x00 \\N \\.",
    "tab\tline\nreturn\r\n ",
    "\ufeffmark \ufffe \uffff \U0010ffff",
    "é e\u0301 İ ß ﬁ",
    "شاي اخضر 緑茶 👩‍👩‍👧",
    "x" * 1_000_000,
    "{1,2,NULL}",
    "NULL",
]


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_a_text_comes_back_as_it_was(store, text):
    memory = blocking(PostgresMemory(store))
    item = memory.add("k", text, metadata={text[:99]: [text[:99], 1.0, 1e300, None]})
    assert memory.list("k") == [item]
    assert memory.add("k", text).id == item.id
    assert item.text == text
    assert item.metadata == {text[:99]: [text[:99], 1.0, 1e300, None]}


@pytest.mark.parametrize("key", [*HARD[:6], "k" * 100_000, " ", "K", "k"], ids=range(10))
def test_a_key_of_any_form_and_length_is_a_key_of_its_own(store, key):
    memory = blocking(PostgresMemory(store))
    memory.add(key, "here")
    memory.add(key + "x", "there")
    assert texts_of(memory.list(key)) == ["here"]
    assert memory.scope_keys() == sorted([key, key + "x"])
    assert memory.clear(key) == 1
    assert memory.scope_keys() == [key + "x"]


def test_keys_are_sorted_as_on_sqlite(store):
    keys = ["b", "B", "a", "ä", "Z", "_", "\U0001f600", "\uffff", "zz", "z"]
    with SqliteStore(":memory:") as sqlite:
        memories = [blocking(PostgresMemory(store)), blocking(SqliteMemory(sqlite))]
        for memory in memories:
            for key in keys:
                memory.add(key, "here")
        assert list(memories[0].scope_keys()) == list(memories[1].scope_keys()) == sorted(keys)


@pytest.mark.parametrize("wrong", ["tea\0pot", "hi \ud83d"])
def test_what_no_store_holds_is_refused_before_anything_is_sent(store, wrong):
    """cocoindex-io/cocoindex#933"""
    memory = blocking(PostgresMemory(store))
    for call in (
        lambda: memory.add("k", wrong),
        lambda: memory.add(wrong, "tea"),
        lambda: memory.add("k", "tea", metadata={"a": wrong}),
        lambda: memory.upsert("k", "tea", id=wrong),
    ):
        with pytest.raises(MemoryInvalidError):
            call()
    assert memory.get("k", wrong) is None
    assert memory.remove("k", wrong) is False
    assert memory.list("k", query=wrong) == []
    assert memory.count("k") == 0


def test_the_largest_ids_and_very_many_items_in_one_call(store):
    memory = blocking(PostgresMemory(store, max_items=None))
    assert memory.upsert("k", "long", id="\U0001f600" * 255).id == "\U0001f600" * 255
    texts = [f"text {number}" for number in range(3000)]
    assert texts_of(memory.add_many("k", texts)) == texts
    assert texts_of(memory.list("k", limit=2)) == ["text 2999", "text 2998"]
    items = memory.list("k")
    assert memory.restore("other", items) == 3001
    assert memory.list("other") == items


def test_a_long_embedder_id_names_its_vectors(store):
    memory = blocking(PostgresVectorMemory(store, embedder=FixedEmbedder({}, id="e" * 50_000, default=[1, 0])))
    memory.add("k", "here")
    assert memory.list("k", query="any")[0].score == 1.0
    other = blocking(PostgresVectorMemory(store, embedder=FixedEmbedder({}, id="e" * 49_999, default=[1, 0])))
    assert list(other.list("k", query="any")) == []


def test_zero_vectors_score_zero_and_are_never_left_out(store):
    embedder = FixedEmbedder({"zero": [0, 0], "one": [1, 0], "against": [-1, 0], "query": [1, 0]})
    memory = blocking(PostgresVectorMemory(store, embedder=embedder, min_score=-1))
    memory.add_many("k", ["zero", "one", "against"])
    assert [(i.text, i.score) for i in memory.list("k", query="query")] == [
        ("one", 1.0),
        ("zero", 0.0),
        ("against", -1.0),
    ]
    assert list(memory.list("k", query="zero")) == []


def test_vectors_of_16000_dimensions_are_stored_and_compared(store):
    vectors = {"a": np.eye(1, 16_000, 3)[0], "b": np.eye(1, 16_000, 15_999)[0], "query": np.eye(1, 16_000, 15_999)[0]}
    memory = blocking(PostgresVectorMemory(store, embedder=FixedEmbedder(vectors)))
    memory.add_many("k", ["a", "b"])
    assert [(i.text, i.score) for i in memory.list("k", query="query")] == [("b", 1.0)]


@pytest.mark.parametrize("dimensions", [16_001, 70_000])
def test_more_dimensions_than_pgvector_holds_are_refused_and_nothing_is_stored(store, dimensions):
    memory = blocking(PostgresVectorMemory(store, embedder=FixedEmbedder({}, default=[1] * dimensions)))
    for call in (lambda: memory.add("k", "here"), lambda: memory.list("k", query="any")):
        with pytest.raises(StorageFailedError, match="up to 16,000 dimensions"):
            call()
    assert memory.count("k") == 0


def test_a_batch_that_fails_half_way_stores_nothing(store, monkeypatch):
    from vectormem.stores.postgres import rows

    memory = blocking(PostgresVectorMemory(store, embedder=FixedEmbedder({}, default=[1, 0])))
    memory.add("k", "before")
    monkeypatch.setattr(rows, "_PUT_VECTORS", "SELECT %s/0, %s, %b, %s")
    with pytest.raises(Exception, match="division by zero"):
        memory.add_many("k", ["one", "two"])
    monkeypatch.undo()
    assert texts_of(memory.list("k")) == ["before"]
    assert memory.count("k") == 1
