"""The vector store for LangChain: what its standard tests do not ask."""

import asyncio

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from embedders import HashEmbedder
from vectormem import EmbeddingError, MemoryInvalidError, SqliteStore, StorageFailedError
from vectormem.adapters.langchain_embedder import LangChainEmbedder
from vectormem.adapters.langchain_vectors import VectormemVectorStore

TEXTS = ["green tea", "green tea leaves", "black coffee", "red wine"]


@pytest.fixture
def vectors(tmp_path):
    store = VectormemVectorStore(tmp_path / "m.db", HashEmbedder(256))
    yield store
    store.close()


def filled(vectors):
    vectors.add_texts(TEXTS, [{"year": 2020 + n} for n in range(4)], ids=list("abcd"))
    return vectors


def ids(found):
    return [document.id for document in found]


def test_scores_are_cosines_and_relevances_are_not_below_zero(vectors):
    found = filled(vectors).similarity_search_with_score("green tea", k=4)
    assert [document.id for document, _ in found[:2]] == ["a", "b"]
    assert [score for _, score in found] == pytest.approx([1, (2 / 3) ** 0.5, 0, 0], abs=1e-6)
    relevances = vectors.similarity_search_with_relevance_scores("green tea", k=4, score_threshold=0.5)
    assert ids(document for document, _ in relevances) == ["a", "b"]


def test_equal_texts_under_different_ids_are_kept(vectors):
    vectors.add_texts(["tea", "tea"], ids=["one", "two"])
    assert sorted(ids(vectors.similarity_search("tea"))) == ["one", "two"]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"year": 2021}, ["b"]),
        ({"year": {"$gte": 2022}}, ["c", "d"]),
        (lambda document: document.metadata["year"] < 2021, ["a"]),
        ({"x') = 1 OR 1=1 --": 1}, []),
    ],
)
def test_a_filter_holds_before_the_best_are_taken(vectors, filter, expected):
    filled(vectors).add_texts(["green tea"] * 50, [{"year": 1990, "z": 0}] * 50)
    if callable(filter):
        assert len(vectors.similarity_search("green tea", k=60, filter=filter)) == 51
    else:
        assert sorted(ids(vectors.similarity_search("green tea", k=4, filter=filter))) == expected


def test_a_vector_can_be_the_query(vectors):
    query = asyncio.run(HashEmbedder(256).embed(["coffee black"]))[0] * 1e30
    assert ids(filled(vectors).similarity_search_by_vector(query.tolist(), k=1)) == ["c"]
    assert ids(asyncio.run(vectors.asimilarity_search_by_vector(query.tolist(), k=1))) == ["c"]


@pytest.mark.parametrize("query", [[], [[1.0]], [float("nan")] * 256, ["a"]], ids=str)
def test_what_is_no_vector_is_refused(vectors, query):
    with pytest.raises(ValueError):
        vectors.similarity_search_by_vector(query)


def test_results_can_be_unlike_each_other(vectors):
    filled(vectors).add_texts(["green tea"], ids=["copy"])
    found = vectors.max_marginal_relevance_search("green tea", k=2, fetch_k=5, lambda_mult=0.1)
    assert (found[0].page_content, found[1].page_content in ("black coffee", "red wine")) == ("green tea", True)
    assert len(asyncio.run(vectors.amax_marginal_relevance_search("green tea", k=3))) == 3
    assert vectors.max_marginal_relevance_search("green tea", filter={"year": 1}) == []


def test_collections_of_one_file_are_apart(tmp_path):
    with SqliteStore(tmp_path / "m.db") as store:
        one, other = (VectormemVectorStore(store, HashEmbedder(), collection=name) for name in ("a", "ab"))
        one.add_texts(["tea"], ids=["x"])
        other.add_texts(["tea"], ids=["y"])
        assert ids(one.similarity_search("tea")) == ["x"]
        one.delete()
        assert (one.similarity_search("tea"), ids(other.similarity_search("tea"))) == ([], ["y"])


def test_what_was_added_is_there_when_the_file_is_opened_anew(tmp_path):
    VectormemVectorStore.from_texts(TEXTS, HashEmbedder(), ids=list("abcd"), store=tmp_path / "m.db").close()
    again = VectormemVectorStore(tmp_path / "m.db", HashEmbedder())
    assert ids(again.similarity_search("wine", k=1)) == ["d"]
    again.close()
    with pytest.raises(StorageFailedError, match="is closed"):
        again.similarity_search("wine")


@pytest.mark.parametrize(
    "documents",
    [
        [Document("fine", id="a"), Document("not", metadata={"n": np.int64(3)})],
        [Document("fine", id="a"), Document("not \ud83d")],
        [Document("fine", id="a"), Document("not", id="i\0d")],
    ],
    ids=["metadata", "text", "id"],
)
def test_documents_of_which_one_cannot_be_stored_are_refused_as_a_whole(vectors, documents):
    with pytest.raises(MemoryInvalidError):
        vectors.add_documents(documents)
    assert vectors.get_by_ids(["a"]) == []


def test_ids_are_one_for_each_document(vectors):
    with pytest.raises(MemoryInvalidError, match="1 ids were given for 2 documents"):
        vectors.add_documents([Document("a"), Document("b")], ids=["x"])
    made = vectors.add_documents([Document("a", id="x"), Document("b"), Document("c", id="x")])
    assert (made[0], made[2], len(set(made))) == ("x", "x", 2)
    assert [document.page_content for document in vectors.get_by_ids([*made[1:], "absent"])] == ["b", "c"]


@pytest.mark.parametrize("k", [0, -1, True, 2.5, None])
def test_k_is_a_whole_number_of_at_least_one(vectors, k):
    with pytest.raises(MemoryInvalidError, match="k must be"):
        filled(vectors).similarity_search("tea", k=k)


def test_a_model_that_fails_stores_nothing(tmp_path):
    class Failing(Embeddings):
        def embed_documents(self, texts):
            raise RuntimeError("no model")

        embed_query = embed_documents

    store = VectormemVectorStore(tmp_path / "m.db", Failing())
    for add in (store.add_texts, lambda texts: asyncio.run(store.aadd_texts(texts))):
        with pytest.raises(EmbeddingError, match="no model"):
            add(["tea"])
    store.close()


def test_reindexing_gives_documents_vectors_of_another_model(tmp_path):
    with SqliteStore(tmp_path / "m.db") as store:
        filled(VectormemVectorStore(store, HashEmbedder(256)))
        again = VectormemVectorStore(store, HashEmbedder(32))
        assert again.similarity_search("black coffee") == []
        assert (again.reindex(), again.reindex()) == (4, 0)
        assert ids(again.similarity_search("black coffee", k=1)) == ["c"]


@pytest.mark.parametrize("query", [None, 7, ["tea"]], ids=str)
def test_a_query_is_a_text(vectors, query):
    with pytest.raises(MemoryInvalidError, match="query must be a string"):
        vectors.similarity_search(query)


def test_a_query_of_nothing_finds_nothing(vectors):
    assert filled(vectors).similarity_search("") == []


def test_models_of_one_class_are_told_apart_by_their_names():
    class Named(DeterministicFakeEmbedding):
        model: str

    one, other = (LangChainEmbedder(Named(size=8, model=name)) for name in ("small", "large"))
    assert one.id.endswith("Named:small")
    assert one.id != other.id
    assert LangChainEmbedder(Named(size=8, model="x"), id="mine").id == "mine"


def test_a_langchain_model_works_in_providers_of_ours():
    from vectormem import SqliteVectorMemory, blocking

    memory = blocking(SqliteVectorMemory(":memory:", embedder=LangChainEmbedder(DeterministicFakeEmbedding(size=8))))
    memory.add("k", "green tea")
    assert memory.list("k", query="green tea")[0].score == pytest.approx(1)


def test_a_retriever_of_the_store_filters(vectors):
    retriever = filled(vectors).as_retriever(search_kwargs={"k": 2, "filter": {"year": {"$lt": 2022}}})
    assert ids(retriever.invoke("green tea")) == ["a", "b"]
    assert ids(asyncio.run(retriever.ainvoke("green tea"))) == ["a", "b"]
