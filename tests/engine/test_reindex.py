"""Changing the model on a store in use: batches, failures, crashes, other writers."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from embedders import HashEmbedder
from vectormem import EmbeddingError, SqliteStore, SqliteVectorMemory

TEXTS = [f"note number{i}" for i in range(25)]


class NewModel:
    """Another model: vectors of 8 numbers from the text's hash; may act or fail before a given batch."""

    id = "new"
    max_batch = 10

    def __init__(self, before_batch: object = None) -> None:
        self.batches: list[int] = []
        self.before_batch = before_batch

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
        if callable(self.before_batch):
            result = self.before_batch(len(self.batches))
            if result is not None:
                await result
        self.batches.append(len(texts))
        return np.stack([np.random.default_rng(abs(hash(t)) % 2**32).normal(size=8) for t in texts])


async def filled(store: SqliteStore) -> SqliteVectorMemory:
    old = SqliteVectorMemory(store, embedder=HashEmbedder())
    await old.add_many("k", TEXTS)
    return old


def test_items_are_embedded_in_batches_and_keep_id_time_and_order(tmp_path: Path) -> None:
    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            before = await (await filled(store)).list("k")
            model, progress = NewModel(), []
            memory = SqliteVectorMemory(store, embedder=model, min_score=-1)
            assert await memory.reindex("k", on_progress=lambda *done: progress.append(done)) == 25
            assert model.batches == [10, 10, 5]
            assert progress == [(10, 25), (20, 25), (25, 25)]
            assert list(await memory.list("k")) == list(before)
            found = await memory.list("k", query="note number7", limit=1)
            assert (found[0].text, found[0].score) == ("note number7", pytest.approx(1.0))
            assert await memory.reindex() == 0

    asyncio.run(main())


def test_old_vectors_serve_until_their_batch_is_swapped_in(tmp_path: Path) -> None:
    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            old = await filled(store)
            found: list[int] = []

            async def ask() -> None:
                found.append(len(await old.list("k", query="note", limit=100)))

            await SqliteVectorMemory(store, embedder=NewModel(lambda _: ask())).reindex("k")
            assert found == [25, 15, 5]

    asyncio.run(main())


def test_a_failure_half_way_keeps_what_is_done_tells_the_count_and_goes_on_later(tmp_path: Path) -> None:
    def fail_at_third(batch: int) -> None:
        if batch == 2:
            raise ConnectionError("model gone")

    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            await filled(store)
            with pytest.raises(EmbeddingError, match=r"model gone.*20 of 25 items were reindexed"):
                await SqliteVectorMemory(store, embedder=NewModel(fail_at_third)).reindex()
            memory = SqliteVectorMemory(store, embedder=NewModel())
            assert await memory.reindex() == 5
            assert await memory.count("k") == 25

    asyncio.run(main())


def test_items_removed_changed_or_added_meanwhile_stay_as_they_are(tmp_path: Path) -> None:
    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other_store:
            items = list(await (await filled(store)).list("k"))[::-1]
            other = SqliteVectorMemory(other_store, embedder=HashEmbedder())

            async def change() -> None:
                await other.remove("k", items[0].id)
                await other.upsert("k", "changed text", id=items[1].id)
                await other.add("k", "added text")

            memory = SqliteVectorMemory(
                store, embedder=NewModel(lambda batch: change() if batch == 0 else None), min_score=-1
            )
            assert await memory.reindex("k") == 25  # 23 that stayed, the changed one and the added one
            texts = [item.text for item in await memory.list("k")]
            assert texts == ["added text", "changed text", *reversed(TEXTS[2:])]
            found = await memory.list("k", query="changed text", limit=1)
            assert (found[0].id, found[0].score) == (items[1].id, pytest.approx(1.0))

    asyncio.run(main())


def test_vectors_of_the_same_id_with_another_length_are_repaired(tmp_path: Path) -> None:
    class Longer(NewModel):
        async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
            return np.pad(await super().embed(texts), ((0, 0), (0, 4)))

    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            await SqliteVectorMemory(store, embedder=NewModel()).add_many("k", TEXTS)
            memory = SqliteVectorMemory(store, embedder=Longer(), min_score=-1)
            assert await memory.reindex() == 25
            assert (await memory.list("k", query=TEXTS[3], limit=1))[0].text == TEXTS[3]
            assert await memory.reindex() == 0

    asyncio.run(main())


def test_reindex_of_all_keys_goes_through_every_key(tmp_path: Path) -> None:
    async def main() -> None:
        with SqliteStore(tmp_path / "m.db") as store:
            old = SqliteVectorMemory(store, embedder=HashEmbedder())
            for key in "abc":
                await old.add_many(key, TEXTS[:4])
            memory = SqliteVectorMemory(store, embedder=NewModel(), min_score=-1)
            assert await memory.reindex("b") == 4
            assert await memory.reindex() == 8
            assert [len(await memory.list(key, query="note", limit=9)) for key in "abc"] == [4, 4, 4]

    asyncio.run(main())


CRASH = """
import asyncio, os, sys
from embedders import as_embedder
from vectormem import SqliteVectorMemory
calls = 0
def embed(texts):
    global calls
    calls += 1
    if calls == 3:
        os._exit(9)
    return [[float(len(t)), 1.0] for t in texts]
embedder = as_embedder(embed, id="crashing")
embedder.max_batch = 10
asyncio.run(SqliteVectorMemory(sys.argv[1], embedder=embedder).reindex())
"""


def test_a_process_that_dies_in_the_middle_leaves_a_store_that_the_next_one_finishes(tmp_path: Path) -> None:
    file = tmp_path / "m.db"

    async def main() -> None:
        async with SqliteVectorMemory(file, embedder=HashEmbedder()) as old:
            await old.add_many("k", TEXTS)
        assert subprocess.run([sys.executable, "-c", CRASH, str(file)], check=False).returncode == 9
        from embedders import as_embedder

        embedder = as_embedder(lambda texts: [[float(len(t)), 1.0] for t in texts], id="crashing")
        async with SqliteVectorMemory(file, embedder=embedder) as memory:
            assert await memory.reindex() == 5
            assert [item.text for item in await memory.list("k")] == TEXTS[::-1]

    asyncio.run(main())
