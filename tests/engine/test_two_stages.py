"""Many vectors: codes choose, exact scores decide, and nothing that is gone is ever found."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from tests.engine.vectors import Lookup, clustered
from vectormem import InMemoryVectorMemory, SqliteStore, SqliteVectorMemory
from vectormem.index import vectors
from vectormem.index.vectors import VectorIndex, Wanted
from vectormem.stores.rows import VectorKind

COUNT, DIMENSIONS = 6_000, 256


@pytest.fixture(autouse=True)
def small_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "TWO_STAGE_FLOATS", 500_000)


def unit(matrix: np.ndarray) -> np.ndarray:
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


def exact_top(stored: np.ndarray, query: np.ndarray, count: int) -> set[int]:
    return set(np.argsort(-(stored.astype(np.float64) @ query.astype(np.float64)), kind="stable")[:count].tolist())


def test_two_stages_find_nearly_all_of_the_best_and_score_them_exactly() -> None:
    stored, queries = map(unit, clustered(1, COUNT, 50, DIMENSIONS))
    index = VectorIndex(DIMENSIONS)
    index.append(np.arange(COUNT), stored)
    shared = 0
    for query in queries:
        hits = index.nearest(Wanted(query, 10, -1.0, exact=False))
        shared += len({hit.seq for hit in hits} & exact_top(stored, query, 10))
        for hit in hits:
            assert hit.score == pytest.approx(float(stored[hit.seq] @ query), abs=1e-5)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert shared >= 0.99 * 10 * len(queries)


def test_exact_is_the_full_product() -> None:
    stored, queries = map(unit, clustered(3, COUNT, 20, DIMENSIONS))
    index = VectorIndex(DIMENSIONS)
    index.append(np.arange(COUNT), stored)
    for query in queries:
        hits = index.nearest(Wanted(query, 10, -1.0, exact=True))
        assert {hit.seq for hit in hits} == exact_top(stored, query, 10)


def test_removed_rows_are_never_found_and_do_not_take_places() -> None:
    stored, (query,) = map(unit, clustered(5, COUNT, 1, DIMENSIONS))
    index = VectorIndex(DIMENSIONS)
    index.append(np.arange(COUNT), stored)
    order = np.argsort(-(stored @ query))
    index.nearest(Wanted(query, 10, -1.0, exact=False))
    expected = set(order[20:30].tolist())
    index.remove([*order[:20], *order[-1380:]])  # not yet a quarter: the slots stay, dead
    assert {hit.seq for hit in index.nearest(Wanted(query, 10, -1.0, exact=False))} == expected
    index.remove(order[-3000:-1380])  # packed now
    assert {hit.seq for hit in index.nearest(Wanted(query, 10, -1.0, exact=False))} == expected


def test_rows_added_after_the_codes_were_made_are_found() -> None:
    stored, new = map(unit, clustered(7, COUNT, 1, DIMENSIONS))
    index = VectorIndex(DIMENSIONS)
    index.append(np.arange(COUNT), stored)
    index.nearest(Wanted(stored[0], 5, -1.0, exact=False))
    new = -new
    index.append([COUNT], new)
    assert index.nearest(Wanted(new[0], 1, -1.0, exact=False))[0].seq == COUNT


def test_a_key_larger_than_the_budget_keeps_codes_only_and_reads_candidates_from_the_file(tmp_path: Path) -> None:
    embedder = Lookup(*clustered(9, 3_000, 20, DIMENSIONS))

    async def main() -> None:
        with SqliteStore(tmp_path / "m.db", cache_bytes=400_000) as store:
            memory = SqliteVectorMemory(store, embedder=embedder, max_items=None, min_score=-1)
            await memory.add_many("k", [str(i) for i in range(3_000)])
            for _ in range(2):
                await memory.list("k", query="q0", limit=1)
            entry = store.cache.peek("k", VectorKind("lookup", DIMENSIONS))
            assert entry is not None
            assert entry.index is not None
            assert entry.index.nbytes < 400_000 < 3_000 * DIMENSIONS * 4
            exact = SqliteVectorMemory(store, embedder=embedder, max_items=None, min_score=-1, exact=True)
            shared = 0
            for query in range(20):
                found = await memory.list("k", query=f"q{query}", limit=10)
                truth = await exact.list("k", query=f"q{query}", limit=10)
                scores = {item.id: item.score for item in truth}
                shared += len({item.id for item in found} & scores.keys())
                assert all(item.score == scores[item.id] for item in found if item.id in scores)
            assert shared >= 198
            victim = (await memory.list("k", query="q0", limit=1))[0]
            await memory.remove("k", victim.id)
            assert victim.id not in {item.id for item in await memory.list("k", query="q0", limit=10)}

    asyncio.run(main())


def test_the_cache_drops_whole_keys_used_longest_ago(tmp_path: Path) -> None:
    embedder = Lookup(*clustered(11, 900, 1, 32))

    async def main() -> None:
        with SqliteStore(tmp_path / "m.db", cache_bytes=100_000) as store:
            memory = SqliteVectorMemory(store, embedder=embedder, max_items=None, min_score=-1)
            for key in "abc":
                await memory.add_many(key, [str(i) for i in range(300)])
                await memory.list(key, query="q0", limit=1)
            kind = VectorKind("lookup", 32)
            assert store.cache.peek("a", kind) is None
            assert [store.cache.peek(key, kind) is not None for key in "bc"] == [True, True]
            assert len(await memory.list("a", query="q0", limit=3)) == 3

    asyncio.run(main())


def test_an_in_memory_provider_searches_large_keys_in_two_stages_too() -> None:
    embedder = Lookup(*clustered(13, 3_000, 20, DIMENSIONS))

    async def main() -> None:
        memory = InMemoryVectorMemory(embedder=embedder, max_items=None, min_score=-1)
        items = await memory.add_many("k", [str(i) for i in range(3_000)])
        table = unit(embedder.table)
        found = await memory.list("k", query="q0", limit=10)
        truth = exact_top(table, unit(embedder.queries)[0], 10)
        assert len({item.text for item in found} & {str(i) for i in truth}) >= 9
        await memory.remove("k", found[0].id)
        assert found[0].id not in {item.id for item in await memory.list("k", query="q0", limit=10)}
        assert len(items) == 3_000

    asyncio.run(main())
