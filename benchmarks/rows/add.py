"""One durable add at a time, to a key that holds many items already."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.engines import ENGINES
from benchmarks.job import Job
from benchmarks.limits import BareFile, bare_rows
from benchmarks.timing import Patience, Series, settle_garbage
from benchmarks.workload import SPARE, Batch, batch_of, key_name

_WARMING = 5
_QUERIES_BEFORE = 3


async def measure(job: Job) -> dict[str, Any]:
    """Return the figures of `add`, and of bare transactions of the same rows between those of vectormem.

    The key has been asked some queries before: what an engine keeps in memory of it has to follow.
    """
    start = job.shape.items
    items = job.workload.items(start + SPARE)
    engine = ENGINES[job.engine].load()
    await engine.setup(job.path, job.embedder(items), one_key=True)
    for number in range(_QUERIES_BEFORE if start else 0):
        await engine.query(key_name(0), job.workload.question(number), 10)
    bare = _BareAdds(job) if ENGINES[job.engine].is_vectormem else None
    settle_garbage()
    own = Series()
    for turn, warming in _turns(Patience(job.seconds, most=SPARE - _WARMING)):
        batch = batch_of(items, range(start + turn, start + turn + 1))
        if bare and turn % 2:
            bare.add(batch, warming=warming)
        await (Series() if warming else own).time(partial(engine.add, key_name(0), batch))
        if bare and not turn % 2:
            bare.add(batch, warming=warming)
    await engine.close()
    return own.figures() | (bare.compared(own) if bare else {})


def _turns(patience: Patience) -> Iterator[tuple[int, bool]]:
    """Yield the number of each add, and whether it is one of the first, which do not count."""
    yield from ((turn, True) for turn in range(_WARMING))
    started, done = time.perf_counter(), 0
    while patience.wants_more(done, started):
        yield _WARMING + done, False
        done += 1


class _BareAdds:
    def __init__(self, job: Job) -> None:
        self._file = BareFile(job.path)
        self._series = Series()
        if job.shape.items:
            self._file.insert(bare_rows(batch_of(job.workload.items(job.shape.items), job.shape.numbers(0))))

    def add(self, batch: Batch, *, warming: bool) -> None:
        (row,) = bare_rows(batch)
        measured = Series() if warming else self._series
        measured.time_sync(partial(self._file.insert_one, row))

    def compared(self, own: Series) -> dict[str, Any]:
        self._file.close()
        return {"apsw": self._series.figures(), "times_apsw": own.median / self._series.median}
