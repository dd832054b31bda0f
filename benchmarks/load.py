"""Many clients at once on one server: PostgresVectorMemory beside SQLite on one machine and a plain pgvector table."""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.load_plain import PlainTable
from vectormem import PostgresStore, PostgresVectorMemory, SqliteStore, SqliteVectorMemory

_DIMENSIONS = 384
_SCHEMA = "vectormem_load"

Add: TypeAlias = Callable[[str, str], Awaitable[object]]
Recall: TypeAlias = Callable[[str, str], Awaitable[object]]


class Mix(NamedTuple):
    """How many clients do how much: each call is an add or, as often, a recall of ten items of a random key."""

    clients: int
    keys: int
    items: int
    seconds: float
    adds: float
    seed: int


class FreeEmbedder:
    """Gives each text a vector made from it, at next to no cost."""

    id = "free"
    dimensions = _DIMENSIONS

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
        """Return one vector for each text."""
        return np.stack([np.random.default_rng(zlib.crc32(text.encode())).normal(size=_DIMENSIONS) for text in texts])


async def drive(add: Add, recall: Recall, mix: Mix) -> dict[str, Any]:
    """Let the clients work for a while and return what they saw."""
    times: dict[str, list[float]] = {"add": [], "recall": []}
    errors: list[str] = []
    began = time.perf_counter()

    async def client(number: int) -> None:
        chance = random.Random(mix.seed * 1000 + number)
        while time.perf_counter() - began < mix.seconds:
            key, is_add = f"notes#user:{chance.randrange(mix.keys)}", chance.random() < mix.adds
            text = f"fact {chance.random()}"
            start = time.perf_counter()
            try:
                await (add if is_add else recall)(key, text)
            except Exception as error:  # noqa: BLE001  # counted, whatever it is
                errors.append(repr(error))
            times["add" if is_add else "recall"].append(time.perf_counter() - start)

    await asyncio.gather(*(client(number) for number in range(mix.clients)))
    return _summary(times, errors, time.perf_counter() - began)


def _summary(times: dict[str, list[float]], errors: list[str], seconds: float) -> dict[str, Any]:
    calls = sum(map(len, times.values()))
    verbs = {
        name: {"calls": len(taken), "p50_ms": _percentile(taken, 50), "p99_ms": _percentile(taken, 99)}
        for name, taken in times.items()
    }
    return {"calls": calls, "calls_per_second": round(calls / seconds, 1), "errors": len(errors), **verbs}


def _percentile(seconds: Sequence[float], share: int) -> float | None:
    return round(float(np.percentile(seconds, share)) * 1000, 3) if seconds else None


async def fill(add_many: Callable[[str, list[str]], Awaitable[object]], mix: Mix) -> None:
    """Give every key its first items, a few keys at a time."""
    limit = asyncio.Semaphore(8)

    async def one(number: int) -> None:
        async with limit:
            await add_many(f"notes#user:{number}", [f"fact {number}-{item}" for item in range(mix.items)])

    await asyncio.gather(*(one(number) for number in range(mix.keys)))


async def measure_memory(memory: Any, mix: Mix) -> dict[str, Any]:
    """Fill a vector memory and drive it."""
    await fill(memory.add_many, mix)
    return await drive(memory.add, lambda key, query: memory.list(key, query=query, limit=10), mix)


async def measure_plain(dsn: str, mix: Mix) -> dict[str, Any]:
    """Do the bare minimum on a plain table in as many threads: one statement for an add, one for a recall."""
    embedder = FreeEmbedder()
    with PlainTable(dsn, _SCHEMA, _DIMENSIONS) as table, ThreadPoolExecutor(mix.clients) as threads:
        loop = asyncio.get_running_loop()

        async def add_many(key: str, texts: list[str]) -> None:
            vectors = await embedder.embed(texts)
            await loop.run_in_executor(threads, table.add_many, key, texts, vectors)

        async def add(key: str, text: str) -> None:
            await add_many(key, [text])

        async def recall(key: str, query: str) -> None:
            vector = (await embedder.embed([query]))[0]
            await loop.run_in_executor(threads, table.nearest, key, vector, 10)

        await fill(add_many, mix)
        return await drive(add, recall, mix)


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table and write JSON; the exit status is 1 where a call has failed."""
    options = _parser().parse_args(arguments)
    mix = Mix(options.clients, options.keys, options.items, options.seconds, options.adds, options.seed)
    found: dict[str, Any] = {}
    with PlainTable(options.dsn, _SCHEMA, _DIMENSIONS) as table:
        table.drop()
    with PostgresStore(options.dsn, schema=_SCHEMA, pool_size=options.pool) as store:
        memory = PostgresVectorMemory(store, embedder=FreeEmbedder(), min_score=-1)
        found["vectormem on Postgres"] = asyncio.run(measure_memory(memory, mix))
    found["plain pgvector table"] = asyncio.run(measure_plain(options.dsn, mix))
    with tempfile.TemporaryDirectory(dir=options.work) as folder, SqliteStore(Path(folder) / "memory.db") as file:
        memory_file = SqliteVectorMemory(file, embedder=FreeEmbedder(), min_score=-1)
        found["vectormem on SQLite"] = asyncio.run(measure_memory(memory_file, mix))
    with PlainTable(options.dsn, _SCHEMA, _DIMENSIONS) as table:
        table.drop()
    print(json.dumps({"mix": mix._asdict(), "engines": found}, indent=2))
    if options.out:
        options.out.write_text(json.dumps({"mix": mix._asdict(), "engines": found}, indent=2) + "\n")
    return int(any(figures["errors"] for figures in found.values()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks load", description=__doc__)
    parser.add_argument("--dsn", required=True, help="the server; the schema vectormem_load is made and dropped there")
    parser.add_argument("--clients", type=int, default=32, help="calls that run at once (default: 32)")
    parser.add_argument("--pool", type=int, default=32, help="connections of the store (default: 32)")
    parser.add_argument("--keys", type=int, default=10_000, help="memories (default: 10,000)")
    parser.add_argument("--items", type=int, default=20, help="items in each at the start (default: 20)")
    parser.add_argument("--adds", type=float, default=0.5, help="share of calls that add (default: 0.5)")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the clients work (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (default: 1)")
    parser.add_argument("--work", type=Path, help="a folder on the disk to measure SQLite on")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
