"""One run: data, every row of every engine in processes of its own, results."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.engines import ENGINES
from benchmarks.exact import Truth
from benchmarks.job import truth_path
from benchmarks.plan import Row, Settings
from benchmarks.rows.imports import measure_imports, measure_sizes
from benchmarks.station import Station
from benchmarks.workload import SPARE, Workload

Results = dict[str, dict[str, Any]]
"""Row name -> `work`, `items`, `keys` and `engines`: name -> figures, or the reason why there are none."""


def run(settings: Settings, work: Path, say: Callable[[str], object]) -> Results:
    """Measure every row for every engine; `work` is an empty folder on the disk to be measured."""
    results: Results = {row.name: _head(row, settings) for row in settings.rows}
    shaped = [row for row in settings.rows if row.shape]
    if shaped:
        _prepare(settings, shaped, work, say)
    for nominal in dict.fromkeys(row.shape for row in shaped):
        rows = [row for row in shaped if row.shape == nominal]
        for engine in settings.engines:
            for name, figures in Station(settings, engine, rows, work, say).measure().items():
                results[name]["engines"][engine] = figures
    for row in settings.rows:
        if row.kind == "import":
            say("imports")
            results[row.name]["engines"] = measure_imports(_installed(settings.engines), settings.processes)
        if row.kind == "size":
            results[row.name]["engines"] = measure_sizes(_installed(settings.engines))
    return results


def _head(row: Row, settings: Settings) -> dict[str, Any]:
    head: dict[str, Any] = {"work": row.work}
    if row.shape:
        shape = settings.shape(row)
        head |= {"keys": shape.keys, "items": shape.items}
    return {**head, "engines": {}}


def _installed(engines: Iterable[str]) -> list[str]:
    return [name for name in engines if not ENGINES[name].missing()]


def _prepare(settings: Settings, rows: list[Row], work: Path, say: Callable[[str], object]) -> None:
    """Write the vectors of the run and the truth for each shape."""
    shapes = {settings.shape(row) for row in rows}
    count = max(shape.items for shape in shapes) + SPARE
    say(f"vectors: {count:,}")
    if settings.vectors:
        source = data.read_real(settings.vectors)
    else:
        source = data.make_synthetic(min(count, 200_000), settings.seed)
    data.write(work, source, count, settings.seed)
    workload = Workload(work)
    items = workload.items(count)
    for shape in shapes:
        if shape.items:
            Truth.compute(items, workload.queries, shape).save(truth_path(work, shape))
