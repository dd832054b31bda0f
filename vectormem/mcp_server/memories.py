"""What the server offers, seen by one caller at a time; no word of the protocol is spoken here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from vectormem.adapters.attachment import Answer, Attachment, answer
from vectormem.chat.storage import ChatStorage
from vectormem.errors import MemoryInvalidError, ToolInputError, VectorMemError
from vectormem.mcp_server.caller import SESSION_ARGUMENT, Caller
from vectormem.mcp_server.sessions import is_offered, needs_session, with_session
from vectormem.slots.access import list_items
from vectormem.slots.block import render_block
from vectormem.slots.define import MemorySlot, memory_key
from vectormem.slots.run import MemoryRun
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool, slot_tools

Chats: TypeAlias = Callable[[str | None], ChatStorage]

_ANY_KEY = "described only"
_CALLERS_KEPT = 256


@dataclass(frozen=True)
class OfferedTool:
    """A tool as a caller sees it: `input_schema` is the tool's own, and asks for the session where one is needed."""

    tool: MemoryTool
    input_schema: dict[str, Any]
    slot: MemorySlot | None = None


class Memories:
    """Slots, and the chats of each principal, for many callers.

    `chats` gives the chat storage of a principal, or of the only user where there are no principals. Raises
    MemoryInvalidError for two slots of one name.
    """

    def __init__(self, slots: Sequence[MemorySlot], *, chats: Chats | None = None) -> None:
        names = [slot.name for slot in slots]
        if doubled := [name for name in names if names.count(name) > 1]:
            raise MemoryInvalidError(f"two slots of this server are called {doubled[0]!r}; give each its own name")
        self._slots = tuple(slots)
        self._chats = None if chats is None else lru_cache(_CALLERS_KEPT)(chats)

    def slots(self, caller: Caller) -> list[MemorySlot]:
        """Return the slots that are there for this caller. Raises MemoryInvalidError where a scope fails."""
        return [slot for slot in self._slots if is_offered(slot, caller)]

    def tools(self, caller: Caller) -> list[OfferedTool]:
        """Return the tools of these slots, in slot order, and that of the chats.

        Raises MemoryInvalidError where a scope fails, and for items with a field `session_id` in a slot that
        needs a session.
        """
        offered = [_offered(tool, slot, caller) for slot in self.slots(caller) for tool in slot_tools(slot, _ANY_KEY)]
        return [*offered, *(OfferedTool(tool, tool.input_schema) for tool in self._chat_tools(caller))]

    async def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Answer | None:
        """Call a tool; None where this caller has none of that name."""
        for offered in self.tools(caller):
            if offered.tool.name == name:
                return await _answer(caller, offered, arguments)
        return None

    async def text(self, caller: Caller, slot: MemorySlot, query: str | None, session_id: str | None) -> str:
        """Return the block of a slot: its newest items, or those that fit a query best; "" where there are none.

        Raises ToolInputError for a session id that is none, or is missing where the slot needs one.
        """
        key = memory_key(slot, _context(caller, slot, session_id))
        if key is None:
            return ""
        items = await list_items(slot, key, limit=slot.recall.max_items, query=query)
        return render_block(slot.name, items, show_ids=slot.expose.forget, max_chars=slot.recall.max_chars)

    async def recalled(self, caller: Caller, query: str | None, session_id: str | None) -> list[str]:
        """Return what a run recalls from each slot that has something, marked as stored data.

        Slots that need a session are left out where none is named.
        """
        parts = []
        for slot in self.slots(caller):
            if session_id is not None or not needs_session(slot, caller):
                run = Attachment([slot], placement="user").start(_context(caller, slot, session_id))
                parts.append(await run.user_part(query))
        return list(filter(None, parts))

    def _chat_tools(self, caller: Caller) -> list[MemoryTool]:
        return [] if self._chats is None else [self._chats(caller.principal).create_memory_retrieval_tool()]


def _offered(tool: MemoryTool, slot: MemorySlot, caller: Caller) -> OfferedTool:
    schema = with_session(slot, tool.input_schema) if needs_session(slot, caller) else tool.input_schema
    return OfferedTool(tool, schema, slot)


def _context(caller: Caller, slot: MemorySlot, session_id: object) -> MemoryContext:
    """Return the context of a call of this slot; a session counts only where the slot needs one."""
    if not needs_session(slot, caller):
        return caller.context()
    if session_id is None:
        raise ToolInputError(f"{SESSION_ARGUMENT}: the memory {slot.name!r} belongs to a session; say which")
    return caller.context(session_id)


async def _answer(caller: Caller, offered: OfferedTool, arguments: Mapping[str, Any]) -> Answer:
    if offered.slot is None:
        return await answer(offered.tool, arguments)
    given = dict(arguments)
    asks = offered.input_schema is not offered.tool.input_schema
    try:
        context = _context(caller, offered.slot, given.pop(SESSION_ARGUMENT, None) if asks else None)
        tools = {tool.name: tool for tool in MemoryRun([offered.slot], context).tools}
    except VectorMemError as error:
        return Answer(str(error), is_error=True)
    if offered.tool.name not in tools:
        return Answer(f"the memory {offered.slot.name!r} is off in this session", is_error=True)
    return await answer(tools[offered.tool.name], given)
