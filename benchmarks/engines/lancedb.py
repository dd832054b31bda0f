"""LanceDB: one table; as it is, and with the indexes that its manual advises for large tables."""

from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import Bitmap, IvfPq

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question

_REFINE = 10


class LanceDB(EngineBase):
    """Flat search."""

    step = 100_000

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._one_key = one_key
        self._schema = pa.schema(
            [
                ("number", pa.int64()),
                ("key", pa.string()),
                ("text", pa.string()),
                ("vector", pa.list_(pa.float32(), embedder.dimensions)),
            ]
        )
        self._table = lancedb.connect(str(folder)).create_table("memories", schema=self._schema, exist_ok=True)

    async def add_many(self, key: str, batch: Batch) -> None:
        flat = pa.array(batch.vectors.ravel())
        columns = {
            "number": batch.numbers,
            "key": [key] * len(batch.texts),
            "text": batch.texts,
            "vector": pa.FixedSizeListArray.from_arrays(flat, batch.vectors.shape[1]),
        }
        self._table.add(pa.table(columns, schema=self._schema))

    add = add_many

    async def finish(self, items: int) -> None:
        self._table.optimize()

    async def query(self, key: str, question: Question, limit: int) -> Any:
        return self._search(key, question).limit(limit).select(["number", "text", "_distance"]).to_list()

    def numbers(self, found: Any) -> list[int]:
        return [row["number"] for row in found]

    def _search(self, key: str, question: Question) -> Any:
        search = self._table.search(question.vector).distance_type("cosine")
        return search if self._one_key else search.where(f"key = '{key}'", prefilter=True)


class IndexedLanceDB(LanceDB):
    """A bitmap index on the key where there are several, else an IVF_PQ index whose candidates are rescored."""

    async def finish(self, items: int) -> None:
        await super().finish(items)
        if self._one_key:
            self._table.create_index("vector", config=IvfPq(distance_type="cosine"))
        else:
            self._table.create_index("key", config=Bitmap())

    def _search(self, key: str, question: Question) -> Any:
        search = super()._search(key, question)
        return search.refine_factor(_REFINE) if self._one_key else search
