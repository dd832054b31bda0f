"""What a run of the OpenAI Agents SDK tells of itself: whose it is, in which session, and what the user said."""

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from vectormem.slots.scope import MemoryContext

if TYPE_CHECKING:
    from agents import RunContextWrapper

ContextOf: TypeAlias = Callable[["RunContextWrapper[Any]"], MemoryContext]

_sessions: "weakref.WeakKeyDictionary[RunContextWrapper[Any], str]" = weakref.WeakKeyDictionary()


def note_session(run: "RunContextWrapper[Any] | None", session_id: str | None) -> None:
    """Remember the session that a run goes on in, for as long as the run is there; None: it has none."""
    if run is not None and session_id is not None:
        _sessions[run] = session_id
    elif run is not None:
        _sessions.pop(run, None)


def session_of(run: "RunContextWrapper[Any]") -> str | None:
    """Return the id of the `VectormemSession` that a run goes on in, as far as it is known."""
    return _sessions.get(run)


def memory_context(run: "RunContextWrapper[Any]") -> MemoryContext:
    """Find the memory context in the context of a run.

    A `MemoryContext` is taken as it is. Of any other object the attributes, or of a mapping the members,
    `session_id`, `metadata` and `principal` are taken; a mapping without `metadata` is itself the metadata.
    Where it has no session id, that of the run's `VectormemSession` counts.
    """
    given = run.context
    session_id, metadata, principal = (_read(given, name) for name in ("session_id", "metadata", "principal"))
    if not isinstance(metadata, Mapping):
        metadata = given if isinstance(given, Mapping) else {}
    if session_id is None:
        session_id = session_of(run)
    return MemoryContext(session_id=session_id, metadata=metadata, principal=principal)


def said_by_user(items: Sequence[Any]) -> list[str]:
    """Return the texts of the user's latest messages: those after which nobody else said anything."""
    said: list[str] = []
    for item in reversed(items):
        if isinstance(item, Mapping) and item.get("role") == "user":
            said.insert(0, _text(item.get("content")))
        elif said:
            break
    return said


def _read(given: object, name: str) -> Any:
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "\n".join(texts)
