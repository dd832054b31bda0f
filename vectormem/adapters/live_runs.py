"""The runs of a framework that names none: found by what it shows of each, and after a pause by a fingerprint."""

import hashlib
import json
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from vectormem.adapters.attachment import AttachedMemory, AttachedRun, said_by_user
from vectormem.adapters.run_sessions import note_session, session_of

_MOST_KEPT = 1000


@dataclass(eq=False)
class PausedRun:
    """What is kept of a run that may be paused: its snapshot, and the fingerprint that it is found by."""

    said: bytes
    calls: Collection[str]
    session_id: str | None
    snapshot: dict[str, Any] = field(repr=False)


@dataclass(eq=False)
class LiveRun:
    """The memory of one run, what the user said to it, and the ids of its calls: one collection that grows."""

    attached: AttachedRun
    said: Sequence[str]
    calls: Collection[str]
    resumed_calls: Collection[str] | None
    lacks_block: bool
    """Whether the block belongs into messages and `messages` was not asked yet."""

    async def system_prompt(self, instructions: str | None) -> str:
        """Return the instructions, with the block at their end where that is its place."""
        return await self.attached.system_prompt(instructions, self._last_input)

    async def messages(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages, with the block before the user's last one where that is its place."""
        self.lacks_block = False
        return await self.attached.with_user_part(messages, self._last_input)

    async def record(self, answer: object) -> None:
        """Record what was said in the run, where its turns are recorded."""
        await self.attached.record([*(("user", text) for text in self.said), ("assistant", answer)])

    @property
    def _last_input(self) -> str | None:
        return self.said[-1] if self.said else None


class LiveRuns:
    """The runs of a process, in all its threads, and the newest thousand of those that may be paused.

    What is `shown` of a run is one object, by which it is found; nothing of the run stays when that is gone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live: weakref.WeakKeyDictionary[Any, LiveRun] = weakref.WeakKeyDictionary()
        self._paused: deque[PausedRun] = deque(maxlen=_MOST_KEPT)
        self._starting: deque[Collection[str]] = deque(maxlen=_MOST_KEPT)

    def note_start(self, calls: Collection[str]) -> None:
        """Note by the calls of a run that it starts, or an agent in it; not where it goes on after a pause."""
        with self._lock:
            self._starting.append(calls)

    def get(self, shown: object) -> LiveRun | None:
        """Return a run that has begun."""
        return self._live.get(shown)

    def of(
        self, shown: object, memory: AttachedMemory, *, messages: Sequence[Any], calls: Collection[str]
    ) -> LiveRun | None:
        """Return a run, begun where it is new; None for a paused one that is only looked at: it has no messages.

        A run with calls whose start was not noted was paused. It goes on with what was kept of the run that had the
        same calls and messages under the same scope keys; where there is none, it recalls anew. Raises
        MemoryInvalidError for a scope that fails and for two slots or tools of one name.
        """
        run, is_resumed = self.get(shown), not self._has_started(calls) and bool(calls)
        if run is None and (messages or not is_resumed):
            run = self._begin(shown, memory, said_by_user(messages), calls, is_resumed)
            with self._lock:
                self._live[shown] = run
        return run

    def keep(self, shown: object) -> None:
        """Keep what a run has recalled, since it may pause now, in the place of what was kept of it before."""
        if run := self.get(shown):
            snapshot = run.attached.run.snapshot()
            with self._lock:
                self._drop(run.calls, run.resumed_calls)
                self._paused.append(PausedRun(_digest(run.said), run.calls, session_of(shown), snapshot))

    def drop(self, shown: object) -> None:
        """Drop what was kept of a run, since it goes on; the state that it was resumed from may be resumed again."""
        if run := self.get(shown):
            with self._lock:
                self._drop(run.calls)

    def end(self, is_shown: Callable[[Any], bool]) -> LiveRun | None:
        """Forget the run of which such an object is shown, and return it."""
        with self._lock:
            run = next((self._live.pop(shown) for shown in list(self._live) if is_shown(shown)), None)
            if run is not None:
                self._drop(run.calls, run.resumed_calls)
        return run

    def _has_started(self, calls: Collection[str]) -> bool:
        with self._lock:
            places = [place for place, noted in enumerate(self._starting) if noted is calls]
            if places:
                del self._starting[places[0]]
        return bool(places)

    def _begin(
        self, shown: object, memory: AttachedMemory, said: list[str], calls: Collection[str], is_resumed: bool
    ) -> LiveRun:
        paused = self._find_paused(shown, memory, _digest(said), set(calls)) if is_resumed else None
        context, snapshot = memory.context_of(shown), paused.snapshot if paused else None
        attached = memory.attachment.resume(context, snapshot) if is_resumed else memory.attachment.start(context)
        resumed_calls, lacks_block = paused.calls if paused else None, attached.placement == "user"
        return LiveRun(attached, said, calls, resumed_calls, lacks_block)

    def _find_paused(self, shown: object, memory: AttachedMemory, said: bytes, calls: set[str]) -> PausedRun | None:
        session_id = session_of(shown)
        with self._lock:
            alike = [one for one in reversed(self._paused) if one.said == said and set(one.calls) == calls]
        for paused in alike:
            note_session(shown, session_id or paused.session_id)
            if paused.snapshot["keys"] == memory.attachment.start(memory.context_of(shown)).run.snapshot()["keys"]:
                return paused
        note_session(shown, session_id)
        return None

    def _drop(self, *calls: Collection[str] | None) -> None:
        for paused in [one for one in self._paused if any(one.calls is made for made in calls)]:
            self._paused.remove(paused)


def _digest(said: Sequence[str]) -> bytes:
    return hashlib.blake2b(json.dumps(said).encode()).digest()
