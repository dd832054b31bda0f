"""sqlite-vec by hand: a scan with its distance function, and its virtual table."""

from pathlib import Path
from typing import Any, ClassVar

import apsw
import sqlite_vec

from benchmarks.engines.protocol import EngineBase
from benchmarks.workload import Batch, PreparedEmbedder, Question


class _SqliteVec(EngineBase):
    step = 100_000
    _items: ClassVar[str] = (
        "CREATE TABLE IF NOT EXISTS items(number INTEGER PRIMARY KEY, key TEXT NOT NULL, text TEXT NOT NULL)"
    )
    _vectors: ClassVar[str]
    _insert_vector: ClassVar[str]
    _nearest: ClassVar[str]

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        self._database = apsw.Connection(str(folder / "vec.db"))
        self._database.enable_load_extension(True)
        self._database.load_extension(sqlite_vec.loadable_path())
        for pragma in ("page_size=16384", "journal_mode=WAL", "synchronous=FULL"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute(self._items)
        self._database.execute(self._vectors.format(dimensions=embedder.dimensions))

    async def add_many(self, key: str, batch: Batch) -> None:
        with self._database:
            numbered = zip(batch.numbers, batch.texts, strict=True)
            self._database.executemany("INSERT INTO items VALUES(?,?,?)", ((n, key, text) for n, text in numbered))
            vectors = zip(batch.numbers, batch.vectors, strict=True)
            self._database.executemany(self._insert_vector, ((n, key, vector.tobytes()) for n, vector in vectors))

    add = add_many

    async def query(self, key: str, question: Question, limit: int) -> Any:
        bindings = {"key": key, "query": question.vector.tobytes(), "limit": limit}
        return self._database.execute(self._nearest, bindings).fetchall()

    def numbers(self, found: Any) -> list[int]:
        return [row[0] for row in found]

    async def close(self) -> None:
        self._database.close()


class SqliteVecScan(_SqliteVec):
    _vectors = (
        "CREATE TABLE IF NOT EXISTS vectors(key TEXT NOT NULL, number INTEGER NOT NULL, embedding BLOB NOT NULL,"
        " PRIMARY KEY(key, number)) WITHOUT ROWID"
    )
    _insert_vector = "INSERT INTO vectors(number, key, embedding) VALUES(?,?,?)"
    _nearest = """
        SELECT number, text, distance FROM (
            SELECT number, vec_distance_cosine(embedding, :query) AS distance
            FROM vectors WHERE key=:key ORDER BY distance LIMIT :limit
        ) JOIN items USING(number) ORDER BY distance
    """


class SqliteVec0(_SqliteVec):
    _vectors = (
        "CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(number INTEGER PRIMARY KEY,"
        " key TEXT PARTITION KEY, embedding float[{dimensions}] distance_metric=cosine)"
    )
    _insert_vector = "INSERT INTO vectors(number, key, embedding) VALUES(?,?,?)"
    _nearest = """
        SELECT number, text, distance FROM (
            SELECT number, distance FROM vectors WHERE embedding MATCH :query AND key=:key AND k=:limit
        ) JOIN items USING(number) ORDER BY distance
    """
