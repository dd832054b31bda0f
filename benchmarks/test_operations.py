"""Single operations under pytest-benchmark: `pytest benchmarks/test_operations.py`."""

# ruff: noqa: E402

import asyncio
import itertools

from benchmarks.threads import use_one_thread

use_one_thread()  # before numpy is imported

import numpy as np
import pytest

from benchmarks.data import make_synthetic
from benchmarks.workload import item_text
from embedders import HashEmbedder
from embedders.words import words
from vectormem import InMemoryMemory, InMemoryVectorMemory, SqliteMemory, SqliteVectorMemory
from vectormem.ranking.keyword import rank_by_words
from vectormem.slots.block import render_block

KEY = "notes#user-1"
LARGEST = 5_000
TEXT = "The user prefers short answers, tea in the afternoon, and trains over planes where the journey allows it."
QUERY = "which answers does the user prefer"


class Vectors:
    """One prepared vector for each text that it is given, in turn."""

    id = "prepared"
    max_batch = LARGEST

    def __init__(self):
        self.rows = make_synthetic(LARGEST, seed=1).items
        self._turns = itertools.count()

    async def embed(self, texts, *, kind="document"):
        return self.rows[[next(self._turns) % LARGEST for _ in texts]]


@pytest.fixture(scope="module")
def vectors():
    return Vectors()


@pytest.fixture
def loop():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(params=["memory", "sqlite"])
def vector_memory(request, loop, vectors, tmp_path):
    options = {"embedder": vectors, "min_score": -1, "max_items": None}
    if request.param == "memory":
        memory = InMemoryVectorMemory(**options)
    else:
        memory = SqliteVectorMemory(tmp_path / "memory.db", **options)
    yield memory
    loop.run(memory.aclose())


@pytest.fixture(params=["memory", "sqlite"])
def word_memory(request, loop, tmp_path):
    if request.param == "memory":
        memory = InMemoryMemory(max_items=None)
    else:
        memory = SqliteMemory(tmp_path / "memory.db", max_items=None)
    yield memory
    loop.run(memory.aclose())


def fill(loop, memory, count):
    loop.run(memory.add_many(KEY, [item_text(number) for number in range(count)]))


def new_texts():
    """Return a function that gives a text that was not there before, at each call."""
    numbers = itertools.count(LARGEST)
    return lambda: item_text(next(numbers))


def timed(benchmark, loop, call):
    """Measure a coroutine function; the event loop runs already when the clock starts."""
    return benchmark(lambda: loop.run(call()))


def test_an_empty_coroutine_is_the_floor_of_all_others(benchmark, loop):
    async def nothing():
        return None

    timed(benchmark, loop, nothing)


@pytest.mark.parametrize("count", [100, LARGEST])
def test_query_by_meaning(benchmark, loop, vector_memory, count):
    fill(loop, vector_memory, count)
    found = timed(benchmark, loop, lambda: vector_memory.list(KEY, query=QUERY, limit=10))
    assert len(found) == 10


@pytest.mark.parametrize("count", [100, LARGEST])
def test_query_by_words(benchmark, loop, word_memory, count):
    fill(loop, word_memory, count)
    found = timed(benchmark, loop, lambda: word_memory.list(KEY, query="something worth keeping", limit=10))
    assert len(found) == 10


@pytest.mark.parametrize("count", [100, LARGEST])
def test_list_the_newest(benchmark, loop, vector_memory, count):
    fill(loop, vector_memory, count)
    found = timed(benchmark, loop, lambda: vector_memory.list(KEY, limit=10))
    assert len(found) == 10


@pytest.mark.parametrize("count", [0, 100, LARGEST])
def test_add(benchmark, loop, vector_memory, count):
    fill(loop, vector_memory, count)
    text = new_texts()
    timed(benchmark, loop, lambda: vector_memory.add(KEY, text()))


def test_add_a_text_that_is_there(benchmark, loop, vector_memory):
    fill(loop, vector_memory, 100)
    item = timed(benchmark, loop, lambda: vector_memory.add(KEY, item_text(7)))
    assert item.text == item_text(7)


def test_upsert_a_new_text_under_an_id(benchmark, loop, vector_memory):
    fill(loop, vector_memory, 100)
    text = new_texts()
    timed(benchmark, loop, lambda: vector_memory.upsert(KEY, text(), id="profile"))


def test_add_and_remove(benchmark, loop, vector_memory):
    fill(loop, vector_memory, 100)
    text = new_texts()

    async def add_and_remove():
        item = await vector_memory.add(KEY, text())
        return await vector_memory.remove(KEY, item.id)

    assert timed(benchmark, loop, add_and_remove)


def test_render_a_block_of_ten_items(benchmark, loop):
    memory = InMemoryMemory()
    loop.run(memory.add_many(KEY, [f"{TEXT} {number}" for number in range(10)]))
    items = loop.run(memory.list(KEY))
    assert benchmark(render_block, "notes", items, show_ids=True).count("\n- ") == 10


def test_rank_1000_texts_by_words(benchmark):
    texts = [f"{TEXT} {number}" for number in range(1000)]
    assert len(benchmark(rank_by_words, texts, QUERY, 10)) == 10


def test_words_of_a_text(benchmark):
    assert benchmark(words, TEXT)[:3] == ["the", "user", "prefers"]


def test_words_of_a_text_beyond_ascii(benchmark):
    assert benchmark(words, "Straße, naïve, Ünïcode; 記憶")[:2] == ["strasse", "naïve"]


def test_hash_embedder_on_one_text(benchmark, loop):
    vectors = timed(benchmark, loop, lambda: HashEmbedder().embed([TEXT]))
    assert np.isclose(np.linalg.norm(vectors[0]), 1)
