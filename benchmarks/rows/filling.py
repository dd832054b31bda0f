"""Filling an engine with the items of a shape, within a budget of time."""

import time

from benchmarks.engines.protocol import Engine
from benchmarks.job import Job
from benchmarks.workload import Matrix, Shape, batch_of, key_name

_SECONDS_BEFORE_GUESS = 5.0


class TooSlowError(Exception):
    """Filling will not end within the budget."""


async def fill(engine: Engine, items: Matrix, job: Job) -> float:
    """Store every item of the shape and return the seconds it took, without those for making the texts."""
    passed, done = 0.0, 0
    for key, numbers in _steps(job.shape, engine.step):
        batch = batch_of(items, numbers)
        started = time.perf_counter()
        await engine.add_many(key_name(key), batch)
        passed += time.perf_counter() - started
        done += len(numbers)
        _check_pace(passed, done, job)
    started = time.perf_counter()
    await engine.finish(job.shape.items)
    return passed + time.perf_counter() - started


def _steps(shape: Shape, step: int) -> list[tuple[int, range]]:
    return [
        (key, numbers[start : start + step])
        for key in range(shape.keys)
        for numbers in [shape.numbers(key)]
        for start in range(0, shape.per_key, step)
    ]


def _check_pace(passed: float, done: int, job: Job) -> None:
    expected = passed / done * job.shape.items
    if passed > _SECONDS_BEFORE_GUESS and expected > job.budget:
        items = job.shape.items
        raise TooSlowError(f"adding {items:,} items would take {expected:,.0f} s or more (budget {job.budget:,.0f} s)")
