"""Fill an engine, then ask it again and again: queries that find everything warm."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.engines import ENGINES
from benchmarks.engines.protocol import Engine
from benchmarks.job import Job
from benchmarks.limits import NumpyProduct
from benchmarks.process import resident_bytes
from benchmarks.rows.filling import fill
from benchmarks.rows.memory import memory_figures
from benchmarks.timing import Patience, Series, settle_garbage
from benchmarks.workload import Matrix, Question, key_name

_WARMING_ROUNDS = 5

Found = list[tuple[int, Sequence[int]]]


async def fill_only(job: Job) -> dict[str, Any]:
    """Return the figures of the rows `bulk` and `memory`."""
    return await measure(job, warm=False)


async def measure(job: Job, *, warm: bool = True) -> dict[str, Any]:
    """Return the figures of the rows `bulk`, `memory` (of the process that fills) and `warm`."""
    items = job.workload.items(job.shape.items)
    engine = ENGINES[job.engine].load()
    before = resident_bytes()
    await engine.setup(job.path, job.embedder(items), one_key=job.shape.keys == 1)
    seconds = await fill(engine, items, job)
    settle_garbage()
    grown = resident_bytes() - before
    figures = {"warm": await _Warm(engine, items, job).measure()} if warm else {}
    await engine.close()
    return {
        "bulk": {"items_per_second": job.shape.items / seconds, "repetitions": 1},
        "memory": memory_figures(grown, items.nbytes),
        **figures,
    }


class _Warm:
    """Queries of one engine; the bare product is measured between those of vectormem."""

    def __init__(self, engine: Engine, items: Matrix, job: Job) -> None:
        self._engine, self._items, self._job = engine, items, job
        self._numpy = NumpyProduct(items, job.shape) if ENGINES[job.engine].is_vectormem else None

    async def measure(self) -> dict[str, Any]:
        await self._warm_up()
        own, product = Series(), Series()
        found, found_by_numpy = await self._repeat(10, self._job.patience, own, product)
        deep = Series()
        found_deep, _ = await self._repeat(100, Patience(self._job.seconds / 2, least=5, most=100), deep, Series())
        figures = own.figures() | {
            "recall@10": self._recall(found, 10),
            "recall@100": self._recall(found_deep, 100),
            "limit_100_median_ms": deep.median * 1e3,
        }
        if self._numpy:
            figures["numpy"] = product.figures() | {"recall@10": self._recall(found_by_numpy, 10)}
            figures["times_numpy"] = own.median / product.median
        return figures

    async def _warm_up(self) -> None:
        """Ask every key some times; slow engines at least once."""
        keys, started = self._job.shape.keys, time.perf_counter()
        for turn in range(_WARMING_ROUNDS * keys):
            if turn >= keys and time.perf_counter() - started > self._job.seconds:
                return
            question = self._job.workload.question(turn)
            await self._engine.query(key_name(self._key(question)), question, 10)
            self._time_numpy(turn, 10, Series())

    async def _repeat(self, limit: int, patience: Patience, own: Series, product: Series) -> tuple[Found, Found]:
        """Ask query after query, the engine and the product taking turns in going first."""
        found: Found = []
        found_by_numpy: Found = []
        started = time.perf_counter()
        while patience.wants_more(len(found), started):
            turn = len(found)
            if turn % 2:
                found_by_numpy += self._time_numpy(turn, limit, product)
            question = self._job.workload.question(turn)
            key = self._key(question)
            answer = await own.time(partial(self._engine.query, key_name(key), question, limit))
            found.append((question.number, self._engine.numbers(answer)))
            if not turn % 2:
                found_by_numpy += self._time_numpy(turn, limit, product)
        return found, found_by_numpy

    def _time_numpy(self, turn: int, limit: int, product: Series) -> Found:
        if self._numpy is None:
            return []
        question = self._job.workload.question(turn)
        key = self._key(question)
        positions = product.time_sync(partial(self._numpy.query, key, question.vector, limit))
        return [(question.number, self._numpy.numbers(key, positions))]

    def _key(self, question: Question) -> int:
        return question.number % self._job.shape.keys

    def _recall(self, found: Found, depth: int) -> float:
        return self._job.truth.recall(self._items, self._job.workload.queries, found, depth)
