"""`python -m benchmarks.worker JOB OUTCOME`: does one job in this process and writes its figures."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from benchmarks.job import Job
from benchmarks.rows import add, bulk, first, memory, serve
from benchmarks.rows.filling import TooSlowError
from benchmarks.workload import to_json

WORKS: Mapping[str, Callable[[Job], Coroutine[Any, Any, dict[str, Any]]]] = {
    "add": add.measure,
    "bulk": bulk.measure,
    "fill": serve.fill_only,
    "first": first.measure,
    "bare-fill": first.fill_bare,
    "bare-read": first.read_bare,
    "memory": memory.measure,
    "serve": serve.measure,
}


def main(asked: str, answered: str) -> None:
    job = Job.from_json(Path(asked).read_text())
    try:
        outcome: dict[str, Any] = asyncio.run(WORKS[job.work](job))
    except TooSlowError as reason:
        outcome = {"skipped": str(reason)}
    Path(answered).write_text(json.dumps(to_json(outcome)))


if __name__ == "__main__":
    main(*sys.argv[1:])
