"""The runs of the OpenAI Agents SDK that have memory: begun once, found again, and resumed after a pause."""

import hashlib
import json
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vectormem.adapters.attachment import AttachedRun, Attachment
from vectormem.adapters.openai_context import ContextOf, note_session, said_by_user, session_of

if TYPE_CHECKING:
    from agents import RunContextWrapper

_MOST_KEPT = 1000


@dataclass(eq=False)
class LiveRun:
    """The memory of one run. `calls` is the SDK's record of its tool calls: one object, whatever context shows it."""

    attached: AttachedRun
    calls: Mapping[str, Any]
    said: list[str]
    session_id: str | None
    resumed: "_Paused | None" = None
    tools: list[Any] | None = None
    block_is_placed: bool = False

    @property
    def last_input(self) -> str | None:
        """The user's last message, where there is one."""
        return self.said[-1] if self.said else None


@dataclass(eq=False)
class _Paused:
    calls: Mapping[str, Any]
    said: bytes
    session_id: str | None
    snapshot: dict[str, Any] = field(repr=False)


_lock = threading.Lock()
_live: "weakref.WeakKeyDictionary[RunContextWrapper[Any], LiveRun]" = weakref.WeakKeyDictionary()
_starting: deque[Mapping[str, Any]] = deque(maxlen=_MOST_KEPT)
_paused: deque[_Paused] = deque(maxlen=_MOST_KEPT)


def run_of(context: "RunContextWrapper[Any]", memory: Attachment, context_of: ContextOf) -> LiveRun | None:
    """Return the memory of a run, begun where it is new; None for a paused run that is only looked at."""
    started, run = _has_started(context), live(context)
    if run is None:
        resumed = bool(_calls(context)) and not started
        if resumed and not context.turn_input:
            return None
        run = _resume(context, memory, context_of) if resumed else _start(context, memory, context_of)
        with _lock:
            _live[context] = run
    return run


def starts(context: "RunContextWrapper[Any]") -> None:
    """Note that an agent starts, which it does before its tools are asked for, unless its run is resumed."""
    with _lock:
        _starting.append(_calls(context))


def live(context: "RunContextWrapper[Any]") -> LiveRun | None:
    """Return the memory of a run that has begun."""
    with _lock:
        return _live.get(context)


def may_pause(context: "RunContextWrapper[Any]") -> None:
    """Keep what the run recalled: one of the tool calls that follow may wait for an approval."""
    with _lock:
        run = _live.get(context)
        if run is not None:
            _forget(run)
            _paused.append(_Paused(run.calls, _digest(run.said), run.session_id, run.attached.run.snapshot()))


def goes_on(run: LiveRun) -> None:
    """Drop what was kept, since the model is asked again; a state that was resumed may be resumed once more."""
    with _lock:
        _drop(run.calls)


def end(context: "RunContextWrapper[Any]") -> LiveRun | None:
    """Forget the run and return it. `context` may be any context that the SDK shows of it."""
    with _lock:
        for wrapper, run in reversed(list(_live.items())):
            if run.calls is _calls(context):
                del _live[wrapper]
                _forget(run)
                return run
    return None


def _start(context: "RunContextWrapper[Any]", memory: Attachment, context_of: ContextOf) -> LiveRun:
    said = said_by_user(context.turn_input)
    return LiveRun(memory.start(context_of(context)), _calls(context), said, session_of(context))


def _resume(context: "RunContextWrapper[Any]", memory: Attachment, context_of: ContextOf) -> LiveRun:
    """Go on with what the run recalled before its pause; where that is not here any more, recall again."""
    said = said_by_user(context.turn_input)
    paused = _find_paused(context, _digest(said), memory, context_of)
    found = context_of(context)
    attached = memory.resume(found, paused.snapshot if paused else memory.start(found).run.snapshot())
    return LiveRun(attached, _calls(context), said, session_of(context), paused)


def _find_paused(
    context: "RunContextWrapper[Any]", said: bytes, memory: Attachment, context_of: ContextOf
) -> _Paused | None:
    """Return what was kept of the run in which the model made exactly these calls, under the same scope keys."""
    session_id = session_of(context)
    with _lock:
        found = [one for one in reversed(_paused) if one.calls.keys() == _calls(context).keys() and one.said == said]
    for paused in found:
        note_session(context, session_id or paused.session_id)
        if paused.snapshot["keys"] == memory.start(context_of(context)).run.snapshot()["keys"]:
            return paused
    note_session(context, session_id)
    return None


def _digest(said: list[str]) -> bytes:
    return hashlib.blake2b(json.dumps(said).encode()).digest()


def _forget(run: LiveRun) -> None:
    _drop(run.calls)
    if run.resumed is not None:
        _drop(run.resumed.calls)


def _drop(calls: Mapping[str, Any]) -> None:
    for paused in [one for one in _paused if one.calls is calls]:
        _paused.remove(paused)


def _has_started(context: "RunContextWrapper[Any]") -> bool:
    calls = _calls(context)
    with _lock:
        noted = [one for one in _starting if one is calls]
        if noted:
            rest = [one for one in _starting if one is not calls]
            _starting.clear()
            _starting.extend(rest)
    return bool(noted)


def _calls(context: "RunContextWrapper[Any]") -> Mapping[str, Any]:
    """The SDK shows nowhere else which run a context belongs to, nor what was done before a pause."""
    return context._tool_invocations
