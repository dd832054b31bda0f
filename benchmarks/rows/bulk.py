"""Many items in one call, against bare inserts of the same rows in one transaction."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.engines import ENGINES
from benchmarks.job import Job
from benchmarks.limits import BareFile, bare_rows
from benchmarks.timing import Series, settle_garbage
from benchmarks.workload import batch_of, key_name

_REPETITIONS = 3


async def measure(job: Job) -> dict[str, Any]:
    """Return items a second of `add_many`, of the bare inserts, and how the two compare."""
    items = job.workload.items(job.shape.items)
    batch = batch_of(items, job.shape.numbers(0))
    rows = bare_rows(batch)
    settle_garbage()
    own, bare = Series(), Series()
    for turn in range(_REPETITIONS):
        with tempfile.TemporaryDirectory(dir=job.path) as scratch:
            folder = Path(scratch)
            works = [partial(_add_many, job, folder, batch, items, own), partial(_insert, folder, rows, bare)]
            for work in works if turn % 2 else reversed(works):
                await work()
    return {
        "items_per_second": len(rows) / own.median,
        "repetitions": _REPETITIONS,
        "apsw": {"items_per_second": len(rows) / bare.median},
        "share_of_apsw": bare.median / own.median,
    }


async def _add_many(job: Job, folder: Path, batch: Any, items: Any, series: Series) -> None:
    engine = ENGINES[job.engine].load()
    await engine.setup(folder, job.embedder(items), one_key=True)
    await series.time(partial(engine.add_many, key_name(0), batch))
    await engine.close()


async def _insert(folder: Path, rows: Any, series: Series) -> None:
    file = BareFile(folder)
    series.time_sync(partial(file.insert, rows))
    file.close()
