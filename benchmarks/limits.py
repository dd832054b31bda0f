"""What no engine can beat by much: the bare numpy product, and bare SQLite through apsw."""

import hashlib
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import apsw
import numpy as np
from numpy.typing import NDArray

from benchmarks.workload import Batch, Matrix, Shape, Vector

Row: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]

_PAGE_BYTES = 16_384
_SCHEMA = """
    CREATE TABLE items (
        seq INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
        text_hash BLOB NOT NULL, created_at INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX items_by_text ON items(key_id, text_hash);
    CREATE TABLE vectors (seq INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, embedding BLOB NOT NULL);
"""
_INSERT_ITEM = "INSERT INTO items VALUES(?,?,?,?,?,?)"
_INSERT_VECTOR = "INSERT INTO vectors VALUES(?,?,?)"


class NumpyProduct:
    """One matrix-vector product over the key's rows, and argpartition: the limit of exact search."""

    def __init__(self, items: Matrix, shape: Shape) -> None:
        self._first = [shape.numbers(key).start for key in range(shape.keys)]
        self._rows = [np.ascontiguousarray(items[start : start + shape.per_key]) for start in self._first]

    def query(self, key: int, vector: Vector, limit: int) -> NDArray[np.intp]:
        scores = self._rows[key] @ vector
        return np.argpartition(scores, -limit)[-limit:] if limit < len(scores) else np.arange(len(scores))

    def numbers(self, key: int, found: NDArray[np.intp]) -> list[int]:
        return [self._first[key] + int(position) for position in found]


class BareFile:
    """A SQLite file that holds the rows of one key and nothing more, durable as vectormem's is."""

    def __init__(self, folder: Path) -> None:
        self._connection = apsw.Connection(str(folder / "bare.db"))
        for pragma in (f"page_size={_PAGE_BYTES}", "journal_mode=WAL", "synchronous=FULL"):
            self._connection.execute(f"PRAGMA {pragma}")
        if not self._connection.execute("SELECT count(*) FROM sqlite_schema").get:
            self._connection.execute(_SCHEMA)

    def insert(self, rows: Sequence[Row]) -> None:
        """Insert ready-made rows in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(_INSERT_ITEM, (item for item, _ in rows))
        self._connection.executemany(_INSERT_VECTOR, (vector for _, vector in rows))
        self._connection.execute("COMMIT")

    def insert_one(self, row: Row) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_INSERT_ITEM, row[0])
        self._connection.execute(_INSERT_VECTOR, row[1])
        self._connection.execute("COMMIT")

    def read_all(self) -> tuple[NDArray[np.int64], Matrix]:
        """Read the sequence numbers and vectors of the key into one matrix."""
        found: list[Any] = self._connection.execute("SELECT seq, embedding FROM vectors WHERE key_id=1").fetchall()
        matrix = np.frombuffer(b"".join(blob for _, blob in found), np.float32).reshape(len(found), -1)
        return np.array([seq for seq, _ in found], np.int64), matrix

    def close(self) -> None:
        self._connection.close()


def bare_rows(batch: Batch) -> list[Row]:
    """Make the rows of items beforehand, so that inserting them is all that is measured."""
    now = time.time_ns() // 1000
    return [
        (
            (number, 1, str(uuid.uuid4()), text, hashlib.blake2b(text.encode(), digest_size=16).digest(), now),
            (number, 1, vector.tobytes()),
        )
        for number, text, vector in zip(*batch, strict=True)
    ]
