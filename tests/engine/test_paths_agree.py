"""In memory, in SQL, in numpy without the extension: one answer, through any changes, from any writer."""

import asyncio
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.engine.vectors import Lookup, plain_answer
from vectormem import InMemoryVectorMemory, SqliteStore, SqliteVectorMemory
from vectormem.stores.sqlite import scan, search

# Few directions, so that equal scores, opposite and zero vectors are common.
TABLE = np.array(
    [[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0], [1, 0, 0], [0, 0, 0], [-1, 0, 0], [0.6, 0, 0.8], [2, 0, 0]], np.float32
)
QUERIES = np.array([[1, 0, 0], [0, 3, 0], [0, 0, 0], [1, 1, 1]], np.float32)

texts = st.integers(0, len(TABLE) - 1).map(str)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 1), texts),
        st.tuples(st.just("upsert"), st.integers(0, 1), texts),
        st.tuples(st.just("remove"), st.integers(0, 1), st.integers(0, 5)),
        st.tuples(st.just("clear"), st.integers(0, 1), st.just("")),
        st.tuples(st.just("query"), st.integers(0, 1), st.integers(0, len(QUERIES) - 1)),
    ),
    max_size=25,
)


@pytest.fixture(params=["hot", "cold", "cold without sqlite-vec"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "hot":
        monkeypatch.setattr(search, "_LOADED_AT_ONCE", -1)
        monkeypatch.setattr(search, "_QUERIES_BEFORE_LOADING", 10**9)
    if request.param == "cold without sqlite-vec":
        monkeypatch.setattr(scan, "can_scan", lambda _: False)
    return str(request.param)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=changes, limit=st.one_of(st.none(), st.integers(1, 4)), min_score=st.sampled_from([-1.0, 0.0, 0.6]))
def test_two_stores_on_one_file_answer_as_a_plain_loop_does(
    tmp_path_factory: pytest.TempPathFactory, path: str, changes: list, limit: int | None, min_score: float
) -> None:
    file = tmp_path_factory.mktemp("engine") / "memory.db"
    asyncio.run(_check(file, changes, limit, min_score))


async def _check(file: Path, changes: list, limit: int | None, min_score: float) -> None:
    embedder = Lookup(TABLE, QUERIES)
    with SqliteStore(file) as one, SqliteStore(file) as two:
        providers = [SqliteVectorMemory(s, embedder=embedder, max_items=4, min_score=min_score) for s in (one, two)]
        mirror = InMemoryVectorMemory(embedder=embedder, max_items=4, min_score=min_score)
        for verb, which, value in [*changes, ("query", 0, 0), ("query", 1, 3)]:
            provider = providers[which]
            if verb == "add":
                await provider.add("k", value)
                await mirror.add("k", value)
            elif verb == "upsert":
                newest = await provider.list("k", limit=1)
                mirrored = await mirror.list("k", limit=1)
                await provider.upsert("k", value, id=newest[0].id if newest else None)
                await mirror.upsert("k", value, id=mirrored[0].id if mirrored else None)
            elif verb == "remove":
                items, mirrored = await provider.list("k"), await mirror.list("k")
                if value < len(items):
                    assert await provider.remove("k", items[value].id)
                    assert await mirror.remove("k", mirrored[value].id)
            elif verb == "clear":
                assert await provider.clear("k") == await mirror.clear("k")
            else:
                stored = [item.text for item in reversed(await mirror.list("k"))]
                expected = plain_answer(list(enumerate(stored)), embedder, f"q{value}", limit, min_score)
                for asked in (*providers, mirror):
                    found = await asked.list("k", query=f"q{value}", limit=limit)
                    assert [item.text for item in found] == [text for text, _ in expected]
                    assert [item.score for item in found] == pytest.approx([score for _, score in expected], abs=1e-6)


def test_all_paths_give_bitwise_equal_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    embedder = Lookup(random.normal(size=(300, 33)).astype(np.float32), random.normal(size=(3, 33)).astype(np.float32))

    async def ask(store: SqliteStore) -> list[tuple[str, float | None]]:
        memory = SqliteVectorMemory(store, embedder=embedder, min_score=-1)
        return [(item.text, item.score) for item in await memory.list("k", query="q1", limit=25)]

    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            await SqliteVectorMemory(store, embedder=embedder).add_many("k", [str(i) for i in range(300)])
            hot = await ask(store)
        monkeypatch.setattr(search, "_LOADED_AT_ONCE", -1)
        with SqliteStore(tmp_path / "m.db") as store:
            cold = await ask(store)
            assert store.cache.peek("k", _kind(store)) is None or store.cache.peek("k", _kind(store)).index is None
        assert hot == cold

    asyncio.run(main())


def _kind(_: SqliteStore):
    from vectormem.stores.rows import VectorKind

    return VectorKind("lookup", 33)
