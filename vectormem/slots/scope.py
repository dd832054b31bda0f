"""Whose memory a run sees: the scope of a slot, and the key that it resolves to."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from vectormem.canonical import check_storable
from vectormem.errors import MemoryInvalidError


@dataclass(frozen=True, kw_only=True)
class MemoryContext:
    """What is known of a run: its session, the metadata its caller gave, and who the caller was proved to be.

    Take a user's id from `principal` where there is one: metadata may come from the client.
    """

    session_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    principal: Any = None


Scope: TypeAlias = Literal["global", "session"] | Callable[[MemoryContext], str | None]

_MISSING_PART = re.compile(r"(^|:)(undefined|null|None|nan|NaN)(:|$)")
_OBJECT_TEXT = re.compile(r"\[object |<[^<>]* at 0x[0-9a-fA-F]+>")


def check_scope(scope: object) -> None:
    """Raise MemoryInvalidError where `scope` is none of the three kinds."""
    if not (callable(scope) or (isinstance(scope, str) and scope in ("global", "session"))):
        raise MemoryInvalidError(f'scope must be "global", "session" or a function of the context, not {scope!r}')


def scope_key(name: str, scope: Scope, context: MemoryContext) -> str | None:
    """Return the key that the scope has in this context; None where the slot is off."""
    if scope == "global":
        return "global"
    key = _session_key(context) if scope == "session" else _called(name, scope, context)
    if key is None:
        return None
    if not isinstance(key, str) or not key:
        raise MemoryInvalidError(
            f"the scope of memory {name!r} returned {key!r}; it must return a non-empty string, or None to be off"
        )
    if _MISSING_PART.search(key) or _OBJECT_TEXT.search(key):
        raise MemoryInvalidError(
            f"the scope key {key!r} of memory {name!r} is built from a missing value; return None where it is missing"
        )
    return check_storable(key, f"the scope key of memory {name!r}")


def _session_key(context: MemoryContext) -> object:
    session_id = context.session_id
    if session_id is None:
        return None
    return f"session:{session_id}" if isinstance(session_id, str) and session_id else session_id


def _called(name: str, scope: Callable[[MemoryContext], object], context: MemoryContext) -> object:
    try:
        key = scope(context)
    except Exception as error:
        raise MemoryInvalidError(f"the scope of memory {name!r} failed: {error!r}") from error
    if hasattr(key, "__await__"):
        getattr(key, "close", lambda: None)()
        raise MemoryInvalidError(f"the scope of memory {name!r} is async; it must be a plain function")
    return key
