"""Faults that vector searches have had: scores, ties, filters, deleted and replaced vectors."""

import math
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from tests.conftest import FixedEmbedder, texts_of
from vectormem import EmbeddingError, MemoryContext, MemoryRun, SqliteStore, SqliteVectorMemory, blocking, define_memory
from vectormem.stores.sqlite import search

TEA = FixedEmbedder({"tea": [1, 0, 0], "blank": [0, 0, 0], "oolong": [0.9, 0.1, 0], "query": [1, 0, 0]})


def scores_of(items):
    return [item.score for item in items]


def opened(place, vectors, *, default=None, **options):
    return blocking(place.open(embedder=FixedEmbedder(vectors, default=default), **options))


def test_a_zero_vector_is_no_result_and_upsets_no_order(every_vector_place):
    """vlasky/sqlite-vec#8, spiceai/spiceai#11621"""
    memory = blocking(every_vector_place.open(embedder=TEA))
    memory.add_many("k", ["tea", "blank", "oolong"])
    found = memory.list("k", query="query", limit=2)
    assert texts_of(found) == ["tea", "oolong"]
    assert scores_of(found) == [1.0, pytest.approx(0.9 / math.hypot(0.9, 0.1), abs=1e-7)]


def test_a_zero_query_finds_nothing_rather_than_everything(every_vector_place):
    """nmslib/nmslib#321"""
    memory = blocking(every_vector_place.open(embedder=TEA, min_score=-1))
    memory.add_many("k", ["tea", "blank", "oolong"])
    assert memory.list("k", query="blank", limit=3) == []


def test_a_vector_that_is_not_finite_never_comes_first_even_where_a_file_holds_one(tmp_path):
    """spiceai/spiceai#11621"""
    path = tmp_path / "memory.db"
    with blocking(SqliteVectorMemory(path, embedder=TEA)) as memory:
        memory.add_many("k", ["tea", "blank", "oolong"])
    with closing(sqlite3.connect(path)) as connection:
        nan = np.full(3, np.nan, "<f4").tobytes()
        connection.execute("UPDATE memory_vectors SET embedding=? WHERE seq=2", (nan,))
        connection.commit()
    with blocking(SqliteVectorMemory(path, embedder=TEA)) as memory:
        assert texts_of(memory.list("k", query="query", limit=1)) == ["tea"]
        assert texts_of(memory.list("k", query="query")) == ["tea", "oolong"]


def test_scores_are_cosines_of_vectors_of_any_length(every_vector_place):
    """langchain-ai/langchain#17333"""
    memory = opened(every_vector_place, {"along": [3, 4], "across": [4, -3], "query": [30, 40]}, min_score=0)
    memory.add_many("k", ["along", "across"])
    found = memory.list("k", query="query")
    assert texts_of(found) == ["along", "across"]
    assert scores_of(found) == [pytest.approx(1.0, abs=1e-7), pytest.approx(0.0, abs=1e-7)]
    assert max(scores_of(found)) <= 1.0


def test_a_text_is_found_by_itself_at_the_highest_threshold(every_vector_place):
    """milvus-io/milvus#33480"""
    vectors = {str(number): row for number, row in enumerate(np.random.default_rng(1).normal(size=(60, 384)))}
    memory = opened(every_vector_place, vectors, min_score=1)
    memory.add_many("k", list(vectors))
    for text in vectors:
        assert [(item.text, item.score <= 1) for item in memory.list("k", query=text)] == [(text, True)]


def test_a_higher_score_is_better_and_the_threshold_keeps_the_good(every_vector_place):
    """mem0ai/mem0#4453, microsoft/semantic-kernel#2078, pgvector/pgvector#814"""
    memory = opened(every_vector_place, {"near": [1, 0], "far": [0, 1], "query": [1, 0]}, min_score=0.5)
    memory.add_many("k", ["near", "far"])
    assert [(item.text, item.score) for item in memory.list("k", query="query")] == [("near", 1.0)]


def test_a_score_that_equals_the_threshold_is_kept(every_vector_place):
    """Ganesh-403/semantic-plagiarism-detector#2992"""
    memory = opened(every_vector_place, {"edge": [0.6, 0.8], "below": [0.599, 0.8], "query": [1, 0]}, min_score=0.6)
    memory.add_many("k", ["edge", "below"])
    assert texts_of(memory.list("k", query="query")) == ["edge"]


def test_equal_scores_come_newest_first_in_every_call_and_after_reopening(every_vector_place):
    """weaviate/weaviate#11609, yoanbernabeu/grepai#303"""
    memory = opened(every_vector_place, {}, default=[1, 2, 2])
    memory.add_many("k", ["one", "two", "three"])
    for _ in range(50):
        assert texts_of(memory.list("k", query="any", limit=2)) == ["three", "two"]
    if every_vector_place.kind == "sqlite-vectors":
        again = opened(every_vector_place, {}, default=[1, 2, 2])
        assert texts_of(again.list("k", query="any", limit=2)) == ["three", "two"]


def test_nearer_items_of_another_key_take_no_places(every_vector_place):
    """MicrosoftDocs/azure-docs#114474, asg017/sqlite-vec#152, plastic-labs/honcho#1048"""
    far = {f"far {number}": [0.5, 0.5 + number / 100] for number in range(5)}
    memory = opened(every_vector_place, far, default=[1, 0])
    memory.add_many("A", [f"near {number}" for number in range(100)])
    memory.add_many("B", list(far))
    assert texts_of(memory.list("B", query="query", limit=5)) == list(far)


def test_a_limit_beyond_the_items_repeats_none(every_vector_place):
    """facebookresearch/faiss#1731"""
    memory = opened(every_vector_place, {}, default=[1, 0])
    assert memory.list("k", query="query", limit=10) == []
    memory.add_many("k", ["one", "two"])
    assert texts_of(memory.list("k", query="query", limit=10)) == ["two", "one"]


@pytest.mark.parametrize("path", ["loaded", "cold"])
@pytest.mark.parametrize("limit", [4097, 4200, 5000, None])
def test_thousands_of_results_are_no_error(every_vector_place, monkeypatch, path, limit):
    """doobidoo/mcp-memory-service#465, asg017/sqlite-vec#157"""
    if path == "cold":
        monkeypatch.setattr(search, "_LOADED_AT_ONCE", 10)
    texts = [str(number) for number in range(4200)]
    memory = opened(every_vector_place, {}, default=[0.6, 0.8])
    memory.add_many("k", texts)
    assert texts_of(memory.list("k", query="query", limit=limit)) == texts[::-1][:limit]


def test_forgotten_vectors_take_no_places(every_vector_place):
    """tteon/seocho#122"""
    vectors = {str(number): [1, number / 10] for number in range(10)}
    memory = opened(every_vector_place, {**vectors, "query": [1, 0]})
    items = memory.add_many("k", list(vectors))
    for item in items[:5]:
        memory.remove("k", item.id)
    assert texts_of(memory.list("k", query="query", limit=5)) == ["5", "6", "7", "8", "9"]


def test_a_forgotten_item_is_gone_on_every_path(every_place):
    """ruvnet/ruflo#2815, diegosouzapw/OmniRoute#9146"""
    memory = blocking(every_place.open())
    kept, gone = memory.add_many("k", ["green tea", "black tea"])
    assert texts_of(memory.list("k", query="black tea", limit=1)) == ["black tea"]
    assert memory.remove("k", gone.id) is True
    memories = [memory] if every_place.kind.startswith("memory") else [memory, blocking(every_place.open())]
    for one in memories:
        assert texts_of(one.list("k", query="black tea")) == ["green tea"]
        assert texts_of(one.list("k")) == ["green tea"]
        assert one.get("k", gone.id) is None
        assert one.count("k") == 1
        assert one.get("k", kept.id).text == "green tea"


def test_an_updated_item_is_found_by_its_new_text_only(every_place):
    """mnemosyne-oss/mnemosyne#110"""
    memory = blocking(every_place.open())
    memory.upsert("k", "a grey rabbit", id="pet")
    assert texts_of(memory.list("k", query="rabbit")) == ["a grey rabbit"]
    memory.upsert("k", "a brown horse", id="pet")
    assert texts_of(memory.list("k", query="horse")) == ["a brown horse"]
    assert memory.list("k", query="rabbit") == []
    assert [(item.id, item.text) for item in memory.list("k")] == [("pet", "a brown horse")]


class Fragile(FixedEmbedder):
    """Fails while `broken` is set."""

    broken = False

    async def embed(self, texts, *, kind="document"):
        if self.broken:
            raise ConnectionError("no model")
        return await super().embed(texts, kind=kind)


def test_an_update_without_an_embedder_changes_neither_text_nor_vector(every_vector_place):
    """samvallad33/vestige#108"""
    embedder = Fragile({"old": [1, 0], "new": [0, 1]})
    memory = blocking(every_vector_place.open(embedder=embedder))
    memory.upsert("k", "old", id="1")
    embedder.broken = True
    with pytest.raises(EmbeddingError):
        memory.upsert("k", "new", id="1")
    embedder.broken = False
    if every_vector_place.kind == "sqlite-vectors":
        memory = blocking(every_vector_place.open(embedder=embedder))
    assert [(item.text, item.score) for item in memory.list("k", query="old")] == [("old", 1.0)]
    assert memory.list("k", query="new") == []


def test_upserting_one_id_again_leaves_one_vector(every_vector_place):
    """facebookresearch/faiss#859"""
    memory = opened(every_vector_place, {}, default=[1, 0])
    for text in ("one", "two", "three"):
        memory.upsert("k", text, id="1")
    assert [(item.id, item.text) for item in memory.list("k", query="query", limit=10)] == [("1", "three")]
    assert memory.count("k") == 1


def test_a_new_item_after_a_removal_meets_no_living_one(every_vector_place):
    """facebookresearch/faiss#224, #190, mem0ai/mem0#7117"""
    memory = opened(every_vector_place, dict(zip("abcd", np.eye(4), strict=True)))
    items = memory.add_many("k", list("abc"))
    memory.remove("k", items[0].id)
    memory.add("k", "d")
    for text in "bcd":
        assert texts_of(memory.list("k", query=text)) == [text]
    assert memory.list("k", query="a") == []


def test_the_score_is_on_the_item_in_its_metadata_and_in_the_tool(every_vector_place):
    """open-metadata/OpenMetadata#28476"""
    provider = every_vector_place.open(embedder=TEA)
    slot = define_memory(name="notes", scope="global", provider=provider)
    blocking(provider).add("notes#global", "oolong")
    (item,) = blocking(provider).list("notes#global", query="tea")
    (shown,) = blocking(MemoryRun([slot], MemoryContext())).call("recall_notes", {"query": "tea"})["items"]
    assert item.score == item.metadata["score"] == shown["score"]
    assert item.score == pytest.approx(0.9 / math.hypot(0.9, 0.1), abs=1e-7)


def test_two_stores_in_one_process_keep_their_own_dimensions(tmp_path):
    """doobidoo/mcp-memory-service#412"""
    with SqliteStore(tmp_path / "three.db") as three, SqliteStore(tmp_path / "five.db") as five:
        memories = [
            blocking(SqliteVectorMemory(store, embedder=FixedEmbedder(dict(zip("abc", np.eye(3, size), strict=True)))))
            for store, size in ((three, 3), (five, 5))
        ]
        for text in "abc":
            for memory in memories:
                memory.add("k", text)
        for memory in memories:
            assert [(item.text, item.score) for item in memory.list("k", query="b")] == [("b", 1.0)]
