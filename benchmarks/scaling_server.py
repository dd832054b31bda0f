"""The figures of one Postgres server that `scaling` computes with."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from benchmarks.data import Source, make_synthetic, read_real
from benchmarks.machine import describe_commit, describe_machine
from vectormem import PostgresStore, PostgresVectorMemory, SqliteStore, SqliteVectorMemory
from vectormem.stores.postgres.indexes import NearIndex

_SCHEMA = "vectormem_scaling"
_SMALL = 1000
_QUERIES = 30


class _Numbered:
    """Gives the text "... n" the n-th vector, or the n-th query."""

    id = "numbered"

    def __init__(self, source: Source) -> None:
        self._source = source
        self.dimensions = source.items.shape[1]

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
        rows = self._source.queries if kind == "query" else self._source.items
        return rows[[int(text.split()[-1]) for text in texts]]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Fill a key, build its index and query it both ways; return medians in milliseconds and bytes an item."""
    source = read_real(options.vectors) if options.vectors else make_synthetic(options.items, 1)
    items = min(options.items, len(source.items))
    embedder = _Numbered(source)
    with psycopg.connect(options.dsn, autocommit=True) as admin:
        admin.execute(f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE")
        with PostgresStore(options.dsn, schema=_SCHEMA, builds_indexes=False) as store:
            server = asyncio.run(_measure(store, admin, embedder, items))
        admin.execute(f"DROP SCHEMA {_SCHEMA} CASCADE")
    return {
        "commit": describe_commit(),
        "machine": describe_machine(Path(tempfile.gettempdir())),
        "run": options.run,
        "file_bytes_per_item": asyncio.run(_file_bytes(embedder)),
        "server": {"items": items, **server},
    }


async def _measure(store: PostgresStore, admin: Any, embedder: _Numbered, items: int) -> dict[str, Any]:
    memory = PostgresVectorMemory(store, embedder=embedder, max_items=None, min_score=-1, exact=True)
    start = time.perf_counter()
    await memory.add_many("large", _texts(items))
    filled = time.perf_counter() - start
    size = _bytes(admin, "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind='r'")
    await memory.add_many("small", _texts(_SMALL))
    compared = [[_SMALL, await _query(memory, "small")], [items, await _query(memory, "large")]]
    start = time.perf_counter()
    _build(admin, embedder.dimensions)
    built = time.perf_counter() - start
    index = _bytes(admin, "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname LIKE 'memory_vectors_near_%'")
    indexed = PostgresVectorMemory(store, embedder=embedder, max_items=None, min_score=-1)
    return {
        "items_per_second": round(items / filled),
        "bytes_per_item": round(size / items),
        "compared_ms": compared,
        "index_bytes_per_item": round(index / items),
        "index_build_seconds": round(built, 1),
        "index_ms": await _query(indexed, "large"),
    }


def _texts(count: int) -> list[str]:
    return [f"the user said something of interest, number {number}" for number in range(count)]


async def _query(memory: PostgresVectorMemory, key: str) -> float:
    times = []
    for number in range(_QUERIES):
        start = time.perf_counter()
        await memory.list(key, query=f"query {number}", limit=10)
        times.append(time.perf_counter() - start)
    return round(float(np.median(times)) * 1000, 2)


def _build(admin: Any, dimensions: int) -> None:
    admin.execute(f"SET search_path={_SCHEMA},public")
    ids = "SELECT k.id, e.id FROM memory_keys AS k, memory_embedders AS e WHERE k.key='large'"
    key_id, embedder_id = admin.execute(ids).fetchone()
    admin.execute(NearIndex(key_id, embedder_id, dimensions).creation)


def _bytes(admin: Any, query: str) -> int:
    return int(admin.execute(f"{query} AND relnamespace='{_SCHEMA}'::regnamespace").fetchone()[0])


async def _file_bytes(embedder: _Numbered, keys: int = 20) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with SqliteStore(path) as store:
            memory = SqliteVectorMemory(store, embedder=embedder, max_items=None)
            for number in range(keys):
                await memory.add_many(f"key {number}", _texts(_SMALL))
        return round(path.stat().st_size / keys / _SMALL)
