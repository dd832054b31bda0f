"""The rules for what callers of a chat memory pass in."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from vectormem.canonical import check_storable, encode_metadata
from vectormem.checks import check_id, check_name
from vectormem.errors import MemoryInvalidError
from vectormem.items import to_utc
from vectormem.stores.chats import MessageDraft
from vectormem.stores.rows import to_microseconds

SortBy: TypeAlias = Literal["similarity", "chronological"]


def check_count(value: object, name: str) -> int:
    """Return a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise MemoryInvalidError(f"{name} must be a whole number of at least 0, not {value!r}")
    return value


def check_conversation_id(value: object) -> str:
    """Return the id of a conversation."""
    return check_name(value, "conversation_id")


def check_optional_name(value: object, what: str) -> str | None:
    """Return a name, or None where there is none."""
    return None if value is None else check_name(value, what)


def check_content(content: object) -> str:
    """Return the content of a message: any string, stored unchanged; it may be empty, as of a bare tool call."""
    if not isinstance(content, str):
        raise MemoryInvalidError(f"the content of a message must be a string, not {type(content).__name__}")
    return check_storable(content, "the content of a message")


def check_time(moment: object) -> datetime:
    """Return an aware time in UTC; one without a time zone could be any."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise MemoryInvalidError(f"created_at must be a datetime with a time zone, not {moment!r}")
    try:
        return to_utc(moment)
    except ValueError as error:
        raise MemoryInvalidError(f"created_at: {error}") from error


def check_roles(roles: object) -> frozenset[str] | None:
    """Return roles to look in; None means all."""
    if roles is None:
        return None
    if isinstance(roles, str) or not isinstance(roles, Collection):
        raise MemoryInvalidError(f'roles must be a list such as ["user"], or None for all; not {roles!r}')
    return frozenset(check_name(role, "a role") for role in roles)


def check_sort_by(sort_by: object) -> SortBy:
    """Return a known order of results."""
    if sort_by not in get_args(SortBy):
        raise MemoryInvalidError(f'sort_by must be "similarity" or "chronological", not {sort_by!r}')
    return sort_by  # type: ignore[return-value]  # checked above


def check_draft(
    id: object, conversation_id: object, role: object, content: object, created_at: object, metadata: Any
) -> MessageDraft:
    """Return a message that can be stored."""
    return MessageDraft(
        check_id(id),
        check_conversation_id(conversation_id),
        check_name(role, "role"),
        check_content(content),
        encode_metadata(metadata),
        to_microseconds(check_time(created_at)),
    )
