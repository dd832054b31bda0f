"""The first query of a new process on a file that is there already, from opening it to the answer."""

import time
from typing import Any

from benchmarks.engines import ENGINES
from benchmarks.job import Job
from benchmarks.limits import BareFile, bare_rows
from benchmarks.workload import batch_of, key_name

_LATER_QUERIES = 4


async def measure(job: Job) -> dict[str, Any]:
    """Return the milliseconds of opening and first query together, and of each query after it."""
    engine = ENGINES[job.engine].load()
    embedder, workload = job.embedder(None), job.workload
    question = workload.question(job.first_query * job.shape.keys)
    started = time.perf_counter()
    await engine.setup(job.path, embedder, one_key=job.shape.keys == 1)
    found = await engine.query(key_name(0), question, 10)
    first = time.perf_counter() - started
    later = []
    for number in range(1, 1 + _LATER_QUERIES):
        again = workload.question((job.first_query + number) * job.shape.keys)
        started = time.perf_counter()
        await engine.query(key_name(0), again, 10)
        later.append((time.perf_counter() - started) * 1e3)
    numbers = engine.numbers(found)
    await engine.close()
    items = workload.items(job.shape.items)
    recall = job.truth.recall(items, workload.queries, [(question.number, numbers)], 10)
    return {"first_ms": first * 1e3, "later_ms": later, "recall@10": recall}


async def fill_bare(job: Job) -> dict[str, Any]:
    """Make a bare file of the items of the first key."""
    bare = BareFile(job.path)
    bare.insert(bare_rows(batch_of(job.workload.items(job.shape.per_key), job.shape.numbers(0))))
    bare.close()
    return {}


async def read_bare(job: Job) -> dict[str, Any]:
    """Return the milliseconds of opening a bare file and reading all of its vectors into one matrix."""
    started = time.perf_counter()
    bare = BareFile(job.path)
    bare.read_all()
    return {"first_ms": (time.perf_counter() - started) * 1e3}
