"""How an embedder is called: in batches, with its errors translated, and only where it is one."""

import asyncio

import numpy as np
import pytest

from embedders import HashEmbedder
from tests.conftest import FixedEmbedder, Returning
from vectormem import EmbeddingError, InMemoryVectorMemory, MemoryInvalidError, StorageFailedError, blocking
from vectormem.embedding import check_embedder, embed

TEXTS = ["one", "two", "three"]
ROWS = [[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]]


def embedded(result, texts=TEXTS, **attributes):
    return asyncio.run(embed(Returning(result, **attributes), texts))


def test_a_later_batch_with_other_dimensions_is_refused():
    def growing(texts):
        return np.ones((len(texts), 2 if texts[0] == "one" else 3))

    with pytest.raises(EmbeddingError, match=r"2 .* 3"):
        embedded(growing, max_batch=2)


def test_a_generator_that_fails_is_an_embedding_error():
    def fail(texts):
        yield [1.0]
        raise ConnectionError("rate limit")

    with pytest.raises(EmbeddingError, match="rate limit"):
        embedded(fail)


@pytest.mark.parametrize("error", [ValueError("bad"), ConnectionError("down"), TimeoutError(), StopIteration()])
def test_what_an_embedder_raises_becomes_an_embedding_error_with_its_cause(error):
    with pytest.raises(EmbeddingError) as caught:
        embedded(error)
    assert caught.value.code == "EMBEDDING_FAILED"
    assert type(caught.value.__cause__) in (
        type(error),
        RuntimeError,
    )  # a coroutine turns StopIteration into the latter


def test_an_error_of_vectormem_passes_through():
    with pytest.raises(StorageFailedError, match="the cache"):
        embedded(StorageFailedError("the cache is locked"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_an_interrupt_is_no_embedding_error(error):
    async def main():
        try:
            await embed(Returning(error()), TEXTS)
        except BaseException as caught:
            return type(caught)

    assert asyncio.run(main()) is error


def test_an_embedder_may_be_a_plain_function_in_a_class():
    class Sync:
        id = "sync"

        def embed(self, texts, *, kind="document"):
            return [[1.0, 0.0] for _ in texts]

    assert asyncio.run(embed(Sync(), TEXTS)).tolist() == [[1.0, 0.0]] * 3


@pytest.mark.parametrize(("attributes", "sizes"), [({}, [96, 96, 8]), ({"max_batch": 70}, [70, 70, 60])])
def test_texts_come_in_batches_of_the_size_that_the_embedder_takes(attributes, sizes):
    texts, told = [str(number) for number in range(200)], []
    embedder = Returning(lambda batch: [[float(text), 1.0] for text in batch], **attributes)
    vectors = asyncio.run(embed(embedder, texts, kind="query", on_batch=told.append))
    assert [len(batch) for batch, _ in embedder.calls] == sizes
    assert [text for batch, _ in embedder.calls for text in batch] == texts
    assert {kind for _, kind in embedder.calls} == {"query"}
    assert told == [sum(sizes[: number + 1]) for number in range(len(sizes))]
    assert np.argsort(vectors[:, 0], kind="stable").tolist() == list(range(200))


def test_no_texts_are_no_call():
    embedder = Returning(ROWS)
    assert len(asyncio.run(embed(embedder, []))) == 0
    assert embedder.calls == []


def test_one_embedder_may_have_another_number_of_dimensions_than_the_next():
    """doobidoo/mcp-memory-service#412"""
    small, large = (
        blocking(InMemoryVectorMemory(embedder=FixedEmbedder(dict(zip(TEXTS, np.eye(3, size), strict=True)))))
        for size in (3, 5)
    )
    for text in TEXTS:
        small.add("k", text)
        large.add("k", text)
    for memory in (small, large):
        assert [(item.text, item.score) for item in memory.list("k", query="two")] == [("two", 1.0)]


class WithoutId:
    async def embed(self, texts, *, kind="document"):
        return ROWS


@pytest.mark.parametrize(
    "embedder",
    [
        None,
        3,
        "hash",
        object(),
        WithoutId(),
        Returning(ROWS, id=""),
        Returning(ROWS, id=None),
        Returning(ROWS, id=5),
        Returning(ROWS, embed=None),
        Returning(ROWS, max_batch=0),
        Returning(ROWS, max_batch=-1),
        Returning(ROWS, max_batch="many"),
        Returning(ROWS, max_batch=2.5),
        Returning(ROWS, max_batch=True),
    ],
)
def test_what_is_no_embedder_is_refused_when_the_memory_is_made(embedder):
    with pytest.raises(MemoryInvalidError):
        check_embedder(embedder)
    with pytest.raises(MemoryInvalidError):
        InMemoryVectorMemory(embedder=embedder)


def test_an_embedder_class_in_place_of_an_object_is_refused():
    with pytest.raises(MemoryInvalidError):
        InMemoryVectorMemory(embedder=HashEmbedder)
