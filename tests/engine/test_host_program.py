"""The engine inside a host program: imports, thread settings, forks, threads, background loading."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.engine.vectors import Lookup, clustered
from vectormem import SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite import search

KIND = VectorKind("lookup", 16)


def lookup() -> Lookup:
    return Lookup(*clustered(21, 200, 4, 16))


def test_small_keys_never_import_faiss() -> None:
    code = (
        "import asyncio, sys\n"
        "from embedders import HashEmbedder\n"
        "from vectormem import SqliteVectorMemory\n"
        "async def main():\n"
        "    memory = SqliteVectorMemory(':memory:', embedder=HashEmbedder())\n"
        "    await memory.add('k', 'green tea')\n"
        "    assert (await memory.list('k', query='tea'))[0].text == 'green tea'\n"
        "asyncio.run(main())\n"
        "print('faiss' in sys.modules)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"


def test_two_stage_searches_leave_faiss_thread_settings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss

    from vectormem.index import vectors
    from vectormem.index.vectors import VectorIndex, Wanted

    monkeypatch.setattr(vectors, "TWO_STAGE_FLOATS", 1_000)
    before = faiss.omp_get_max_threads()
    stored, queries = clustered(22, 6_000, 1, 256)
    index = VectorIndex(256)
    index.append(range(6_000), stored)
    assert len(index.nearest(Wanted(queries[0], 10, -10.0, exact=False))) == 10
    assert faiss.omp_get_max_threads() == before


def test_a_large_key_is_answered_cold_and_loaded_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_LOADED_AT_ONCE", 50)
    monkeypatch.setattr(search, "_LOADED_IN_PLACE", 50)

    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            memory = SqliteVectorMemory(store, embedder=lookup(), min_score=-1)
            await memory.add_many("k", [str(i) for i in range(200)])
            cold = [await memory.list("k", query="q1", limit=5)]
            entry = store.cache.peek("k", KIND)
            assert entry is not None
            assert entry.index is None
            cold.append(await memory.list("k", query="q1", limit=5))
            deadline = time.monotonic() + 30
            while entry.index is None and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            assert entry.index is not None
            hot = await memory.list("k", query="q1", limit=5)
            assert cold == [hot, hot]

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_searches_and_writes_on_its_own_connections(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    memory = SqliteVectorMemory(store, embedder=lookup(), min_score=-1)
    asyncio.run(memory.add_many("k", [str(i) for i in range(100)]))
    before = asyncio.run(memory.list("k", query="q0", limit=3))
    child = os.fork()
    if child == 0:
        try:
            same = asyncio.run(memory.list("k", query="q0", limit=3)) == before
            asyncio.run(memory.add("k", "150"))
            os._exit(0 if same else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert asyncio.run(memory.count("k")) == 101
    assert asyncio.run(memory.list("k", limit=1))[0].text == "150"
    assert "150" in {item.text for item in asyncio.run(memory.list("k", query="q0"))}
    store.close()


def test_threads_and_event_loops_search_while_others_write(tmp_path: Path) -> None:
    errors: list[BaseException] = []
    with SqliteStore(tmp_path / "m.db") as store:
        memory = SqliteVectorMemory(store, embedder=lookup(), min_score=-1, max_items=60)
        blocking(memory).add_many("k", [str(i) for i in range(60)])

        def write(first: int) -> None:
            try:
                for i in range(first, first + 30):
                    blocking(memory).add("k", str(i))
            except BaseException as error:
                errors.append(error)

        def read() -> None:
            try:
                for i in range(40):
                    found = asyncio.run(memory.list("k", query=f"q{i % 4}", limit=10))
                    assert len(found) == 10
                    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(first,)) for first in (60, 100)]
        threads += [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert len(blocking(memory).list("k", query="q0")) == 60
