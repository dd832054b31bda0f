"""Slots that belong to a session: the protocol has none, so that each call names its own."""

import copy
from typing import Any

from vectormem.errors import MemoryInvalidError
from vectormem.mcp_server.caller import LONGEST_SESSION_ID, SESSION_ARGUMENT, Caller
from vectormem.slots.define import MemorySlot, memory_key

_ANY_SESSION = "any"


def is_offered(slot: MemorySlot, caller: Caller) -> bool:
    """Tell whether the slot is there for this caller, in some session or without one."""
    return needs_session(slot, caller) or memory_key(slot, caller.context()) is not None


def needs_session(slot: MemorySlot, caller: Caller) -> bool:
    """Tell whether the slot is off until a call names a session. Raises MemoryInvalidError for a broken scope."""
    if isinstance(slot.scope, str):
        return slot.scope == "session"
    try:
        without = memory_key(slot, caller.context())
    except MemoryInvalidError:
        if isinstance(_key_in_a_session(slot, caller), str):
            return True  # a key that is built from the session, and says so by failing
        raise
    return without is None and _key_in_a_session(slot, caller) is not None


def with_session(slot: MemorySlot, schema: dict[str, Any]) -> dict[str, Any]:
    """Return an input schema of a tool of the slot that asks for the session too.

    Raises MemoryInvalidError where the items of the slot have a field of that name.
    """
    own = schema.get("properties", {})
    if SESSION_ARGUMENT in own:
        raise MemoryInvalidError(
            f"the items of memory {slot.name!r} have a field {SESSION_ARGUMENT!r}, by which this server asks for the "
            "session; give the field another name"
        )
    required = [*schema.get("required", []), SESSION_ARGUMENT]
    return {**copy.deepcopy(schema), "properties": {**own, SESSION_ARGUMENT: _SESSION}, "required": required}


def _key_in_a_session(slot: MemorySlot, caller: Caller) -> str | MemoryInvalidError | None:
    """Return the key in some session; the error of a scope that knows its sessions, and not this one."""
    try:
        return memory_key(slot, caller.context(_ANY_SESSION))
    except MemoryInvalidError as error:
        return error


_SESSION: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_SESSION_ID,
    "description": "The conversation that this memory belongs to: the same id in every call of one conversation.",
}
