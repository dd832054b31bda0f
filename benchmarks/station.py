"""One engine on one shape: filled once, then measured for every row of that shape."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from benchmarks.engines import ENGINES
from benchmarks.job import Job
from benchmarks.plan import Row, Settings
from benchmarks.process import Outcome
from benchmarks.process import run as run_job

_SECONDS_BEYOND_BUDGET = 600


class Station:
    """Runs the jobs that the rows need, in an order in which no job disturbs a later one."""

    def __init__(
        self,
        settings: Settings,
        engine: str,
        rows: Sequence[Row],
        work: Path,
        say: Callable[[str], object],
    ) -> None:
        self._settings, self._engine, self._work, self._say = settings, engine, work, say
        self._spec = ENGINES[engine]
        self._rows = {row.kind: row for row in rows if self._spec.measures(row.name)}
        self._folder, self._bare = work / "engine", work / "bare"

    def measure(self) -> dict[str, Outcome]:
        """Return the figures by row name."""
        obstacles = {kind: self._spec.obstacle(kind) for kind in self._rows}
        outcomes: dict[str, Outcome] = {kind: {"cannot": reason} for kind, reason in obstacles.items() if reason}
        free = [kind for kind, reason in obstacles.items() if not reason]
        if free:
            for folder in (self._folder, self._bare):
                folder.mkdir()
            try:
                outcomes |= self._measure(free)
            finally:
                shutil.rmtree(self._folder)
                shutil.rmtree(self._bare)
        return {self._rows[kind].name: outcome for kind, outcome in outcomes.items()}

    def _measure(self, kinds: Sequence[str]) -> dict[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        row = self._rows[kinds[0]]
        if self._settings.shape(row).items:
            served = self._run("serve" if "warm" in kinds else "fill", row)
            if "bulk" not in served:
                return dict.fromkeys(kinds, served)
            outcomes |= served
        if "bulk" in kinds and self._spec.is_vectormem and self._spec.is_durable:
            outcomes["bulk"] = self._run("bulk", self._rows["bulk"], folder=self._bare)
        if "first" in kinds:
            outcomes["first"] = self._first(self._rows["first"])
        if "memory" in kinds and self._spec.is_durable:
            outcomes["memory"] = self._run("memory", self._rows["memory"])
        if "add" in kinds:
            outcomes["add"] = self._run("add", self._rows["add"])
        return {kind: outcomes[kind] for kind in kinds}

    def _first(self, row: Row) -> Outcome:
        """Return medians over new processes; bare reads take turns with vectormem."""
        answers, reads = [], []
        if self._spec.is_vectormem:
            self._run("bare-fill", row, folder=self._bare)
        for number in range(self._settings.processes):
            answers.append(self._run("first", row, first_query=number))
            if "first_ms" not in answers[-1]:
                return answers[-1]
            if self._spec.is_vectormem:
                reads.append(self._run("bare-read", row, folder=self._bare)["first_ms"])
        first = median(answer["first_ms"] for answer in answers)
        outcome: Outcome = {
            "median_ms": first,
            "later_ms": [median(later) for later in zip(*(answer["later_ms"] for answer in answers), strict=True)],
            "recall@10": sum(answer["recall@10"] for answer in answers) / len(answers),
            "repetitions": len(answers),
        }
        if reads:
            outcome |= {"apsw": {"median_ms": median(reads)}, "times_apsw": first / median(reads)}
        return outcome

    def _run(self, work: str, row: Row, *, folder: Path | None = None, first_query: int = 0) -> Outcome:
        self._say(f"{row.name}: {self._spec.title}: {work}")
        job = Job(
            work=work,
            engine=self._engine,
            shape=self._settings.shape(row),
            folder=str(folder or self._folder),
            data=str(self._work),
            seconds=self._settings.seconds,
            budget=self._settings.budget,
            first_query=first_query,
        )
        return run_job(job, most_seconds=self._settings.budget + _SECONDS_BEYOND_BUDGET)
