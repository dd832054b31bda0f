"""How much a process grows when it opens a file and answers queries on it."""

import gc
from typing import Any

import numpy as np

from benchmarks.engines import ENGINES
from benchmarks.job import Job
from benchmarks.process import resident_bytes
from benchmarks.workload import key_name

_QUERIES = 20


async def measure(job: Job) -> dict[str, Any]:
    """Return the growth of the resident memory over that of the process with the engine imported."""
    engine = ENGINES[job.engine].load()
    embedder, workload = job.embedder(None), job.workload
    gc.collect()
    before = resident_bytes()
    await engine.setup(job.path, embedder, one_key=job.shape.keys == 1)
    for number in range(_QUERIES):
        await engine.query(key_name(number % job.shape.keys), workload.question(number), 10)
    gc.collect()
    grown = resident_bytes() - before
    await engine.close()
    return memory_figures(grown, job.shape.items * workload.dimensions * np.dtype(np.float32).itemsize)


def memory_figures(grown: int, float32: int) -> dict[str, Any]:
    """Return the growth beside the bytes of the vectors as float32."""
    return {"grown_mb": grown / 2**20, "float32_mb": float32 / 2**20, "times_float32": grown / float32}
