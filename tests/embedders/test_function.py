"""as_embedder: any function of texts as an embedder."""

import asyncio
import threading

import numpy as np
import pytest

from embedders import Embedder, as_embedder
from vectormem import EmbeddingError, InMemoryVectorMemory, blocking
from vectormem.testing import EmbedderSuite

KEY = "notes#global"


def lengths(texts):
    """Give each text a vector of its length and its number of spaces."""
    return np.array([[len(text), text.count(" ")] for text in texts], np.float32).reshape(len(texts), 2)


async def lengths_later(texts):
    await asyncio.sleep(0)
    return lengths(texts)


class TestSyncFunction(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return as_embedder(lengths, id="lengths")


class TestAsyncFunction(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return as_embedder(lengths_later, id="lengths")


def embed(embedder, *texts, **options):
    return asyncio.run(embedder.embed(list(texts), **options))


@pytest.mark.parametrize("function", [lengths, lengths_later, lambda texts: lengths_later(texts)])
def test_a_function_is_called_with_the_texts(function):
    embedder = as_embedder(function, id="lengths")
    assert isinstance(embedder, Embedder)
    assert embedder.id == "lengths"
    np.testing.assert_array_equal(embed(embedder, "a b", "cd"), [[3, 1], [2, 0]])


def test_an_object_with_an_async_call_is_a_function():
    class Model:
        async def __call__(self, texts):
            return lengths(texts)

    np.testing.assert_array_equal(embed(as_embedder(Model(), id="m"), "ab"), [[2, 0]])


def test_a_function_that_asks_for_the_kind_is_told():
    seen = []

    def function(texts, kind):
        seen.append(kind)
        return lengths(texts)

    embedder = as_embedder(function, id="asymmetric")
    embed(embedder, "a")
    embed(embedder, "a", kind="query")
    assert seen == ["document", "query"]


def test_a_provider_embeds_items_as_documents_and_queries_as_queries():
    seen = []

    async def function(texts, *, kind):
        seen.append((kind, list(texts)))
        return lengths(texts)

    memory = blocking(InMemoryVectorMemory(embedder=as_embedder(function, id="asymmetric")))
    memory.add(KEY, "likes tea")
    memory.list(KEY, query="tea")
    assert seen == [("document", ["likes tea"]), ("query", ["tea"])]


def test_a_sync_function_does_not_hold_up_the_event_loop():
    started, go_on = threading.Event(), threading.Event()

    def slow(texts):
        started.set()
        assert go_on.wait(10)
        return lengths(texts)

    async def scenario():
        task = asyncio.create_task(as_embedder(slow, id="slow").embed(["a"]))
        while not started.is_set():
            await asyncio.sleep(0)
        go_on.set()
        return await task

    np.testing.assert_array_equal(asyncio.run(scenario()), [[1, 0]])


def test_what_a_function_raises_is_an_embedding_error_of_the_provider():
    def failing(texts):
        raise OSError("the model server is down")

    memory = blocking(InMemoryVectorMemory(embedder=as_embedder(failing, id="failing")))
    with pytest.raises(EmbeddingError, match="the model server is down") as caught:
        memory.add(KEY, "likes tea")
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize(
    "shape",
    [
        lambda rows: rows.tolist(),
        lambda rows: [list(row) for row in rows],
        lambda rows: tuple(tuple(row) for row in rows),
        lambda rows: (row for row in rows),
        lambda rows: [iter(row) for row in rows],
        lambda rows: rows.astype(np.float64),
        lambda rows: rows.astype(np.int64),
        lambda rows: np.asfortranarray(rows),
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    ],
)
def test_a_provider_takes_what_functions_usually_return(shape):
    memory = blocking(InMemoryVectorMemory(embedder=as_embedder(lambda texts: shape(lengths(texts)), id="x")))
    memory.add_many(KEY, ["aaaa", "a b c"])
    found = memory.list(KEY, query="dddd")
    assert [(item.text, item.score) for item in found] == [
        ("aaaa", pytest.approx(1, abs=1e-6)),
        ("a b c", pytest.approx(5 / 29**0.5, abs=1e-6)),
    ]


@pytest.mark.parametrize("function", [None, 7, "embed"])
def test_what_is_no_function_is_refused(function):
    with pytest.raises(ValueError, match="function"):
        as_embedder(function, id="x")


@pytest.mark.parametrize("id", ["", "  ", None, 7])
def test_a_missing_id_is_refused(id):
    with pytest.raises(ValueError, match="id"):
        as_embedder(lengths, id=id)


def test_the_id_is_keyword_only():
    with pytest.raises(TypeError):
        as_embedder(lengths, "x")
