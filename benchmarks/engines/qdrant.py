"""qdrant-client in local mode: exact search in Python, without a server."""

import warnings
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question

_NAME = "memories"


class QdrantLocal(EngineBase):
    step = 2_000

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        warnings.simplefilter("ignore")  # it advises a server beyond 20,000 items
        self._one_key = one_key
        self._client = QdrantClient(path=str(folder))
        if not self._client.collection_exists(_NAME):
            vectors = models.VectorParams(size=embedder.dimensions, distance=models.Distance.COSINE)
            self._client.create_collection(_NAME, vectors_config=vectors)

    async def add_many(self, key: str, batch: Batch) -> None:
        payloads = [{"key": key, "text": text} for text in batch.texts]
        points = models.Batch(ids=list(batch.numbers), vectors=batch.vectors.tolist(), payloads=payloads)
        self._client.upsert(_NAME, points=points)

    add = add_many

    async def query(self, key: str, question: Question, limit: int) -> Any:
        condition = models.FieldCondition(key="key", match=models.MatchValue(value=key))
        of_key = None if self._one_key else models.Filter(must=[condition])
        return self._client.query_points(_NAME, query=question.vector, query_filter=of_key, limit=limit).points

    def numbers(self, found: Any) -> list[int]:
        return [point.id for point in found]

    async def close(self) -> None:
        self._client.close()
