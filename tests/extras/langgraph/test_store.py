"""LangGraph's store in a file of ours: what its own tests of stores do not ask."""

import asyncio
import threading
from datetime import UTC, datetime

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

from embedders import HashEmbedder
from tests.extras.langgraph.models import RUNS, model, say
from tests.extras.langgraph.stores import INDEX, keys
from vectormem import EmbeddingError, MemoryInvalidError, SqliteStore, StorageFailedError
from vectormem.adapters.langgraph_store import VectormemStore


def test_equal_texts_under_different_keys_are_kept(store):
    store.put(("a",), "one", {"text": "tea"})
    store.put(("a",), "two", {"text": "tea"})
    assert sorted(keys(store.search(("a",), query="tea"))) == ["one", "two"]


def test_an_updated_item_keeps_when_it_was_made_and_comes_first(store, clock):
    """langchain-ai/langgraph#8831"""
    made = clock.now
    for key in "abc":
        store.put(("n",), key, {"key": key})
    clock.after(hours=1)
    store.put(("n",), "a", {"key": "new"})
    assert keys(store.search(("n",))) == ["a", "c", "b"]
    found = store.get(("n",), "a")
    assert (found.value, found.created_at, found.updated_at) == ({"key": "new"}, made, clock.now)


def test_the_reads_of_a_batch_see_what_was_there_before_its_writes(store):
    store.put(("a",), "k", {"n": 1})
    got, _, found, listed, _ = store.batch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 2}),
            SearchOp(("a",)),
            ListNamespacesOp(),
            PutOp(("b",), "k", {"n": 3}),
        ]
    )
    assert (got.value, [one.value for one in found], listed) == ({"n": 1}, [{"n": 1}], [("a",)])
    assert store.get(("a",), "k").value == {"n": 2}


def test_of_two_writes_under_one_key_the_last_counts(store):
    store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("a",), "k", None), PutOp(("a",), "k", {"n": 3})])
    assert store.get(("a",), "k").value == {"n": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        PutOp(("a",), "k", {"when": datetime(2026, 1, 1, tzinfo=UTC)}),
        PutOp(("a",), "k", {"n": float("nan")}),
        PutOp(("a",), "k", {1: "n"}),
        PutOp(("a",), "k\ud83d", {}),
        PutOp(("a\ud83d",), "k", {}),
        PutOp("abc", "k", {}),
        PutOp(("a",), 1, {}),
        PutOp(("a",), "k", ["no", "object"]),
        PutOp(("a",), "k", {}, ttl=-1),
        PutOp(("a",), "k", {}, ttl=float("nan")),
        SearchOp(("a",), limit=-1),
        SearchOp(("a",), offset=-1),
        SearchOp(("a",), limit=True),
        SearchOp(("a",), filter={"n": {"$xor": 1}}),
        SearchOp(("a",), filter=["n"]),
        SearchOp(("a",), query=7),
        ListNamespacesOp(limit=-1),
        ListNamespacesOp(match_conditions=(MatchCondition("middle", ("a",)),)),
        "no operation",
    ],
    ids=repr,
)
def test_a_batch_with_something_wrong_is_refused_as_a_whole(store, wrong):
    with pytest.raises(MemoryInvalidError):
        store.batch([PutOp(("a",), "first", {}), wrong])
    assert store.search(()) == []


@pytest.mark.parametrize("label", ["%", "_", "*", "acme2", "ac", "é", "😀", "a/b", "'", '"', "a\0b", "x') OR 1=1 --"])
def test_a_namespace_is_its_labels_and_nothing_else(store, label):
    """langchain-ai/langgraph#8478, langchain-ai/langgraphjs#2512"""
    store.batch([PutOp(("acme", "x"), "mine", {}), PutOp((label, "x"), "theirs", {})])
    assert [(item.key, item.namespace) for item in store.batch([SearchOp((label,))])[0]] == [("theirs", (label, "x"))]
    assert keys(store.search(("acme",))) == ["mine"]
    assert store.list_namespaces() == sorted([("acme", "x"), (label, "x")])


def test_a_filter_is_data(store):
    """oceanbase/powercontext#898"""
    store.put(("a",), "k", {"owner": "ada"})
    assert store.search(("a",), filter={"x') = 1 OR 1=1 --": 1}) == []
    assert keys(store.search(("a",), filter={"owner": "ada"})) == ["k"]


def test_numbers_are_compared_as_numbers(store):
    """langchain-ai/langgraph#7684"""
    store.put(("a",), "nine", {"n": 9})
    store.put(("a",), "big", {"n": 9007199254740993})
    assert keys(store.search(("a",), filter={"n": {"$gte": 10}})) == ["big"]
    assert store.search(("a",), filter={"n": 9007199254740992}) == []


def test_a_filter_holds_before_the_best_are_taken(store):
    """MicrosoftDocs/azure-docs#114474"""
    for number in range(60):
        store.put(("a",), f"near {number}", {"text": "green tea", "kind": "x"})
    for number in range(5):
        store.put(("a",), f"far {number}", {"text": "green tea with some other words", "kind": "y"})
    found = store.search(("a",), query="green tea", filter={"kind": "y"}, limit=5)
    assert sorted(keys(found)) == [f"far {number}" for number in range(5)]


def test_pages_of_a_query_follow_each_other(store):
    for number in range(25):
        store.put(("a", str(number % 3)), f"k{number}", {"text": "tea " * (number % 4 + 1) + f"word{number}"})
    whole = keys(store.search(("a",), query="tea", limit=25))
    pages = [keys(store.search(("a",), query="tea", limit=4, offset=offset)) for offset in range(0, 25, 4)]
    assert [key for page in pages for key in page] == whole
    assert sorted(whole) == sorted(f"k{number}" for number in range(25))


def test_what_has_no_vector_comes_after_what_has_one(store):
    store.put(("a",), "plain", {"text": "green tea"}, index=False)
    store.put(("a",), "indexed", {"text": "black coffee"})
    found = store.search(("a",), query="green tea")
    assert [(item.key, item.score is None) for item in found] == [("indexed", False), ("plain", True)]


def test_only_the_fields_to_index_are_embedded(tmp_path):
    with VectormemStore(tmp_path / "m.db", index={**INDEX, "fields": ["title", "parts[*].text"]}) as store:
        store.put(("a",), "k", {"title": "green tea", "parts": [{"text": "black coffee"}], "other": "red wine"})
        assert [round(store.search(("a",), query=query)[0].score, 3) for query in ("green tea", "black coffee")] == [
            1,
            1,
        ]
        assert store.search(("a",), query="red wine")[0].score < 0.5


def test_an_update_replaces_the_vectors(store):
    store.put(("a",), "pet", {"text": "green tea"}, index=["text"])
    store.put(("a",), "pet", {"text": "black coffee"}, index=["text"])
    assert store.search(("a",), query="coffee black")[0].score == pytest.approx(1, abs=1e-6)
    assert store.search(("a",), query="green tea")[0].score < 0.5


def test_an_embedder_that_fails_stores_nothing(tmp_path):
    async def fail(texts):
        raise RuntimeError("no model")

    with VectormemStore(tmp_path / "m.db", index={"embed": fail, "dims": 3}) as store:
        with pytest.raises(EmbeddingError, match="no model"):
            asyncio.run(store.abatch([PutOp(("a",), "k", {"text": "tea"})]))
        assert store.search(()) == []


def test_an_async_function_embeds_in_async_calls_alone(tmp_path):
    async def embed(texts):
        return [[1.0, 0.0, 0.0] for _ in texts]

    with VectormemStore(tmp_path / "m.db", index={"embed": embed, "dims": 3}) as store:
        asyncio.run(store.aput(("a",), "k", {"text": "tea"}))
        with pytest.raises(EmbeddingError, match="async"):
            store.search(("a",), query="tea")
        assert asyncio.run(store.asearch(("a",), query="tea"))[0].score == 1


def test_a_put_that_is_cancelled_while_it_embeds_stores_nothing(tmp_path):
    async def put_and_cancel():
        started = asyncio.Event()

        async def embed(texts):
            started.set()
            await asyncio.Event().wait()

        with VectormemStore(tmp_path / "m.db", index={"embed": embed, "dims": 3}) as store:
            put = asyncio.create_task(store.aput(("a",), "k", {"text": "tea"}))
            await started.wait()
            put.cancel()
            with pytest.raises(asyncio.CancelledError):
                await put
            await store.aput(("a",), "other", {"text": "tea"}, index=False)
            return keys(await store.asearch(("a",)))

    assert asyncio.run(put_and_cancel()) == ["other"]


def test_vectors_of_another_length_than_the_index_says_are_refused(tmp_path):
    with VectormemStore(tmp_path / "m.db", index={**INDEX, "dims": 257}) as store:
        with pytest.raises(EmbeddingError, match="256 dimensions, not of 257"):
            store.put(("a",), "k", {"text": "tea"})
        assert store.search(()) == []


def test_vectors_of_another_model_are_not_compared_and_nothing_is_lost(tmp_path):
    with VectormemStore(tmp_path / "m.db", index=INDEX) as store:
        store.put(("a",), "old", {"text": "green tea"})
    with VectormemStore(tmp_path / "m.db", index={"embed": HashEmbedder(32), "dims": 32}) as store:
        store.put(("a",), "new", {"text": "black coffee"})
        found = store.search(("a",), query="green tea")
        assert [(item.key, item.score is None) for item in found] == [("new", False), ("old", True)]


def test_reindexing_embeds_what_has_no_vectors_of_the_model_and_leaves_what_is_not_to_be_indexed(tmp_path):
    with VectormemStore(tmp_path / "m.db", index={**INDEX, "fields": ["text"]}) as store:
        for number in range(100):
            store.put(("a",), f"k{number}", {"text": f"green tea {number}"})
        store.put(("a",), "plain", {"text": "green tea"}, index=False)
        store.put(("a",), "other", {"text": "green tea", "title": "red wine"}, index=["title"])
        before = [(item.key, item.updated_at) for item in store.search(("a",), limit=200)]
    with VectormemStore(tmp_path / "m.db", index={"embed": HashEmbedder(32), "dims": 32, "fields": ["text"]}) as store:
        told = []
        assert store.reindex(on_progress=lambda done, total: told.append((done, total))) == 101
        assert told == [(96, 101), (101, 101)]
        assert store.reindex() == 0
        assert [(item.key, item.updated_at) for item in store.search(("a",), limit=200)] == before
        found = store.search(("a",), query="red wine", limit=200)
        assert (found[0].key, round(found[0].score, 3)) == ("other", 1)
        assert [item.key for item in found if item.score is None] == ["plain"]


def test_without_an_index_there_is_nothing_to_embed_with(tmp_path):
    with VectormemStore(tmp_path / "m.db") as store, pytest.raises(MemoryInvalidError, match="no index"):
        store.reindex()


@pytest.mark.parametrize("limit", [10**9, 10**30])
def test_a_limit_beyond_all_items_gives_all(store, limit):
    for key in "abc":
        store.put(("a",), key, {"text": "tea"})
    assert len(store.search(("a",), limit=limit)) == len(store.search(("a",), query="tea", limit=limit)) == 3
    assert store.search(("a",), query="tea", limit=1, offset=limit) == []
    assert len(store.list_namespaces(limit=limit)) == 1


@pytest.mark.parametrize("query", ["", "  ", "!?", "tea \ud83d"], ids=ascii)
def test_any_text_is_a_query(store, query):
    store.put(("a",), "k", {"text": "tea"})
    assert keys(store.search(("a",), query=query)) == ["k"]


def test_a_store_works_in_two_event_loops_and_in_threads(store):
    async def put_and_find(key):
        await store.aput(("a",), key, {"text": "tea"})
        return keys(await store.asearch(("a",), query="tea"))

    assert asyncio.run(put_and_find("one")) == ["one"]
    assert sorted(asyncio.run(put_and_find("two"))) == ["one", "two"]
    threads = [threading.Thread(target=store.put, args=(("a",), f"t{n}", {"text": "tea"})) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.search(("a",), query="tea", limit=20)) == 10


def test_a_store_that_was_given_is_not_closed_and_one_of_its_own_is(tmp_path):
    with SqliteStore(tmp_path / "m.db") as file:
        with VectormemStore(file) as store:
            store.put(("a",), "k", {})
        assert store.get(("a",), "k") is not None
    with VectormemStore(tmp_path / "m.db") as store:
        pass
    with pytest.raises(StorageFailedError, match="is closed"):
        store.get(("a",), "k")


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_the_tools_of_an_agent_reach_the_store(run, tmp_path):
    @tool
    async def note(text: str, runtime: ToolRuntime) -> str:
        """Write a note."""
        await runtime.store.aput(("notes",), "last", {"text": text})
        return "noted"

    @tool
    def note_now(text: str, runtime: ToolRuntime) -> str:
        """Write a note."""
        runtime.store.put(("notes",), "last", {"text": text})
        return "noted"

    is_async = run in (RUNS["ainvoke"], RUNS["astream"])
    with VectormemStore(tmp_path / "m.db") as store:
        used = note if is_async else note_now
        run(create_agent(model((used.name, {"text": "tea"}), "ok"), [used], store=store), say())
        assert store.get(("notes",), "last").value == {"text": "tea"}
