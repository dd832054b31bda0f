"""nano-vectordb: one matrix in memory, saved as one JSON file."""

import logging
from pathlib import Path
from typing import Any

from nano_vectordb import NanoVectorDB

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question

logging.disable(logging.INFO)  # it logs each file that it opens to the root logger


class NanoVectorDb(EngineBase):
    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._one_key = one_key
        self._items = NanoVectorDB(embedder.dimensions, storage_file=str(folder / "nano.json"))

    async def add_many(self, key: str, batch: Batch) -> None:
        self._items.upsert(
            [
                {"__id__": str(number), "__vector__": vector, "key": key, "text": text}
                for number, text, vector in zip(*batch, strict=True)
            ]
        )

    async def finish(self, items: int) -> None:
        self._items.save()

    async def add(self, key: str, batch: Batch) -> None:
        await self.add_many(key, batch)
        self._items.save()

    async def query(self, key: str, question: Question, limit: int) -> Any:
        of_key = None if self._one_key else lambda item: item["key"] == key
        return self._items.query(question.vector, top_k=limit, filter_lambda=of_key)

    def numbers(self, found: Any) -> list[int]:
        return [int(item["__id__"]) for item in found]
