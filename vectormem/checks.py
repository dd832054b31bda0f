"""The rules for what callers pass in, each written once."""

from vectormem.canonical import check_storable
from vectormem.errors import MemoryInvalidError

_MAX_ID_LENGTH = 255
_LARGEST_LIMIT = 2**62


def check_scope_key(scope_key: object) -> str:
    """Return a usable scope key; a missing one must never mean a shared memory."""
    if not isinstance(scope_key, str) or not scope_key:
        raise MemoryInvalidError(
            f"the scope key must be a non-empty string, not {scope_key!r}; memory_key(slot, context) "
            "returns None where a slot is off: do not use the provider then"
        )
    return check_storable(scope_key, "the scope key")


def check_text(text: object) -> str:
    """Return an item text: any string that is not blank, stored unchanged."""
    if not isinstance(text, str):
        raise MemoryInvalidError(f"the text of an item must be a string, not {type(text).__name__}")
    if not text.strip():
        raise MemoryInvalidError("the text of an item must not be empty or blank")
    return check_storable(text, "the text of an item")


def check_id(item_id: object) -> str:
    """Return an item id: 1 to 255 printable characters without white space."""
    if not isinstance(item_id, str) or not 0 < len(item_id) <= _MAX_ID_LENGTH:
        raise MemoryInvalidError(f"an item id must be a string of 1 to {_MAX_ID_LENGTH} characters, not {item_id!r}")
    if " " in item_id or not item_id.isprintable():
        raise MemoryInvalidError(f"an item id must not hold white space or control characters: {item_id!r}")
    return item_id


def check_name(value: object, what: str) -> str:
    """Return a name, as of a conversation or a role: a string that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise MemoryInvalidError(f"{what} must be a non-empty string, not {value!r}")
    return check_storable(value, what)


def check_positive(value: object, name: str) -> int:
    """Return a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise MemoryInvalidError(f"{name} must be a whole number of at least 1, not {value!r}")
    return min(value, _LARGEST_LIMIT)


def check_seconds(value: object, name: str) -> float:
    """Return a time in seconds, more than 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise MemoryInvalidError(f"{name} must be a number of seconds above 0, not {value!r}")
    return float(value)


def check_limit(limit: object) -> int | None:
    """Return a limit of results; None means all."""
    return None if limit is None else check_positive(limit, "limit")


def check_unit_interval(value: object, name: str, lowest: float) -> float:
    """Return a similarity threshold between `lowest` and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= 1:
        raise MemoryInvalidError(f"{name} must be a number from {lowest:g} to 1, not {value!r}")
    return float(value)


def check_query(query: object) -> str | None:
    """Return a query to rank by, or None where there is nothing to look for (None or blank)."""
    if query is None:
        return None
    if not isinstance(query, str):
        raise MemoryInvalidError(f"the query must be a string or None, not {type(query).__name__}")
    return query.encode(errors="replace").decode() if query.strip() else None
