"""LangGraph's stores: in memory, and in SQLite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question, number_of


class _LangGraph(EngineBase):
    _store: Any

    async def add_many(self, key: str, batch: Batch) -> None:
        numbered = zip(batch.numbers, batch.texts, strict=True)
        self._store.batch([PutOp(("memories", key), str(number), {"text": text}) for number, text in numbered])

    add = add_many

    async def query(self, key: str, question: Question, limit: int) -> Any:
        return self._store.search(("memories", key), query=question.text, limit=limit)

    def numbers(self, found: Any) -> list[int]:
        return [number_of(item.value["text"]) for item in found]


class InMemoryLangGraph(_LangGraph):
    """`InMemoryStore`."""

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._store = InMemoryStore(index=_index(embedder))


class SqliteLangGraph(_LangGraph):
    """`SqliteStore`."""

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        from langgraph.store.sqlite import SqliteStore

        self._opened = SqliteStore.from_conn_string(str(folder / "store.db"), index=_index(embedder))
        self._store = self._opened.__enter__()
        self._store.setup()

    async def close(self) -> None:
        self._opened.__exit__(None, None, None)


def _index(embedder: PreparedEmbedder) -> Any:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = embedder.lookup(texts).tolist()
        return vectors

    return {"dims": embedder.dimensions, "embed": embed, "fields": ["text"]}
