"""What one worker process is asked to do, as JSON."""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from benchmarks.exact import Truth
from benchmarks.timing import Patience
from benchmarks.workload import Matrix, PreparedEmbedder, Shape, Workload


@dataclass(frozen=True)
class Job:
    """`work` names a function of the worker; `folder` is the engine's own, `data` that of the vectors.

    `budget` is how many seconds filling may take; `first_query` is the query to begin with.
    """

    work: str
    engine: str
    shape: Shape
    folder: str
    data: str
    seconds: float
    budget: float
    first_query: int = 0

    @cached_property
    def workload(self) -> Workload:
        return Workload(Path(self.data))

    @property
    def truth(self) -> Truth:
        return Truth.load(truth_path(Path(self.data), self.shape), self.shape)

    @property
    def patience(self) -> Patience:
        return Patience(self.seconds)

    @property
    def path(self) -> Path:
        return Path(self.folder)

    def embedder(self, items: Matrix | None) -> PreparedEmbedder:
        return PreparedEmbedder(items, self.workload.queries)

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "shape": self.shape.as_json()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        fields: dict[str, Any] = json.loads(text)
        return cls(**{**fields, "shape": Shape(**fields["shape"])})


def truth_path(data: Path, shape: Shape) -> Path:
    return data / f"truth-{shape.name}.npy"
