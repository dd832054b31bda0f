"""Where the memory of a paused run waits until the run goes on: never in the stored transcript."""

import logging
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from vectormem.errors import VectorMemError

logger = logging.getLogger("vectormem")

T = TypeVar("T")
Snapshot: TypeAlias = Mapping[str, Any]

_MOST_KEPT = 1000


class Pauses(Protocol):
    """Keeps the snapshots of paused runs, JSON objects that hold memory, by the ids of the runs."""

    async def keep_pause(self, conversation_id: str, run_id: str, snapshot: Snapshot) -> None:
        """Store what a run of the conversation had recalled when it paused."""

    async def find_pause(self, run_id: str) -> Snapshot | None:
        """Return what was stored for the run, or None."""

    async def drop_pause(self, run_id: str) -> None:
        """Delete what was stored for the run; nothing happens where there is nothing."""


class PausesInProcess:
    """Keeps the newest thousand snapshots in this process."""

    def __init__(self) -> None:
        self._snapshots: dict[str, Snapshot] = {}

    async def keep_pause(self, conversation_id: str, run_id: str, snapshot: Snapshot) -> None:
        self._snapshots[run_id] = snapshot
        while len(self._snapshots) > _MOST_KEPT:
            del self._snapshots[next(iter(self._snapshots))]

    async def find_pause(self, run_id: str) -> Snapshot | None:
        return self._snapshots.get(run_id)

    async def drop_pause(self, run_id: str) -> None:
        self._snapshots.pop(run_id, None)


class TolerantPauses:
    """Pauses that another keeps, by default this process: where that fails, a pause costs its memory, not its run."""

    def __init__(self, pauses: Pauses | None = None) -> None:
        self._pauses = PausesInProcess() if pauses is None else pauses

    async def keep_pause(self, conversation_id: str, run_id: str, snapshot: Snapshot) -> None:
        await _tolerated(self._pauses.keep_pause(conversation_id, run_id, snapshot))

    async def find_pause(self, run_id: str | None) -> Snapshot | None:
        return None if run_id is None else await _tolerated(self._pauses.find_pause(run_id))

    async def drop_pause(self, run_id: str | None) -> None:
        if run_id is not None:
            await _tolerated(self._pauses.drop_pause(run_id))


async def _tolerated(call: Awaitable[T]) -> T | None:
    try:
        return await call
    except VectorMemError as error:
        logger.warning("paused runs: %s; a run that goes on without its snapshot recalls anew", error)
        return None
