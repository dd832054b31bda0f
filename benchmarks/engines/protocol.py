"""What every measured engine offers to the benchmark."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from benchmarks.workload import Batch, PreparedEmbedder, Question


class Engine(Protocol):
    """A memory under measurement; `step` is how many items one call of `add_many` takes at best."""

    step: int

    async def setup(self, folder: Path, embedder: PreparedEmbedder, *, one_key: bool) -> None:
        """Open what the folder holds, or create it; with one key only, queries need no filter."""
        ...

    async def add_many(self, key: str, batch: Batch) -> None:
        """Store new items of one key."""
        ...

    async def finish(self, items: int) -> None:
        """Do what the engine's manual advises after a bulk add: save, compact, index."""
        ...

    async def add(self, key: str, batch: Batch) -> None:
        """Store one new item as durably as the engine does by default."""
        ...

    async def query(self, key: str, question: Question, limit: int) -> Any:
        """Return the nearest items of the key with their texts and scores."""
        ...

    def numbers(self, found: Any) -> Sequence[int]:
        """Return the numbers of the items that `query` has returned, best first."""
        ...

    async def close(self) -> None:
        """Close what `setup` opened."""
        ...


class EngineBase:
    """Defaults."""

    step: ClassVar[int] = 10_000

    async def finish(self, items: int) -> None:
        pass

    async def close(self) -> None:
        pass
