"""Chroma, embedded: one collection with an HNSW index on cosine, the key in the metadata."""

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question


class Chroma(EngineBase):
    step = 5_000  # below get_max_batch_size()

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._one_key = one_key
        self._client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._items = self._client.get_or_create_collection(
            "memories",
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
        )

    async def add_many(self, key: str, batch: Batch) -> None:
        self._items.add(
            ids=[str(number) for number in batch.numbers],
            embeddings=batch.vectors,
            documents=list(batch.texts),
            metadatas=[{"key": key}] * len(batch.texts),
        )

    add = add_many

    async def query(self, key: str, question: Question, limit: int) -> Any:
        where = None if self._one_key else {"key": key}
        return self._items.query(
            query_embeddings=[question.vector],
            n_results=limit,
            where=where,
            include=["documents", "distances"],
        )

    def numbers(self, found: Any) -> list[int]:
        return [int(identity) for identity in found["ids"][0]]

    async def close(self) -> None:
        self._client.close()
