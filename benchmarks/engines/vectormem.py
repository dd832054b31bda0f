"""vectormem: one SQLite file, or this process only."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question, number_of
from vectormem import InMemoryVectorMemory, MemoryItem, SqliteStore, SqliteVectorMemory

_LARGE_CACHE = 4 * 2**30
_DEFAULT_CACHE = 512 * 2**20


class _Vectormem(EngineBase):
    step = 100_000
    _memory: SqliteVectorMemory | InMemoryVectorMemory

    async def add_many(self, key: str, batch: Batch) -> None:
        await self._memory.add_many(key, batch.texts)

    async def add(self, key: str, batch: Batch) -> None:
        await self._memory.add(key, batch.texts[0])

    async def query(self, key: str, question: Question, limit: int) -> Sequence[MemoryItem]:
        return await self._memory.list(key, query=question.text, limit=limit)

    def numbers(self, found: Sequence[MemoryItem]) -> list[int]:
        return [number_of(item.text) for item in found]

    async def close(self) -> None:
        await self._memory.aclose()


class SqliteVectormem(_Vectormem):
    """`SqliteVectorMemory`, with room in memory for every vector of the run."""

    cache_bytes: ClassVar[int] = _LARGE_CACHE

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._store = SqliteStore(folder / "memory.db", cache_bytes=self.cache_bytes)
        self._memory = SqliteVectorMemory(self._store, embedder=embedder, min_score=-1, max_items=None)

    async def close(self) -> None:
        await super().close()
        await self._store.aclose()


class SmallCacheVectormem(SqliteVectormem):
    """The same with the default `cache_bytes`, which a million vectors do not fit."""

    cache_bytes = _DEFAULT_CACHE


class InMemoryVectormem(_Vectormem):
    """`InMemoryVectorMemory`."""

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._memory = InMemoryVectorMemory(embedder=embedder, min_score=-1, max_items=None)
