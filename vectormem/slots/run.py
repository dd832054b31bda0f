"""One run of an agent: what it recalls, once, and the tools that it offers."""

import asyncio
import logging
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from vectormem.concurrency import AsyncLock
from vectormem.errors import MemoryInvalidError, ToolInputError
from vectormem.slots.access import list_items
from vectormem.slots.block import join_blocks, render_block, without_blocks
from vectormem.slots.define import MemorySlot, memory_key
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool, slot_tools

logger = logging.getLogger("vectormem")

_warned: "weakref.WeakSet[MemorySlot]" = weakref.WeakSet()


class _Snapshot(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    keys: dict[str, str | None]
    blocks: dict[str, str] | None


class MemoryRun:
    """The memory of one agent run.

    Scopes are resolved when the run is made: MemoryInvalidError is raised for a scope that fails and for
    two slots of one name. A slot without a key in this context is off: nothing is recalled and none of its
    tools are offered. Items are recalled at the first call of `block` or `system_prompt`; later calls
    reuse them. A provider that fails then costs its block and a warning, never the run.
    """

    def __init__(self, slots: Sequence[MemorySlot], context: MemoryContext | None = None) -> None:
        self._keys = _resolve(slots, context or MemoryContext())
        self._slots = tuple(slots)
        self._blocks: dict[str, str] | None = None
        self._recalling = AsyncLock()
        self.tools: list[MemoryTool] = [
            tool for slot in slots if (key := self._keys[slot.name]) for tool in slot_tools(slot, key)
        ]

    async def system_prompt(self, instructions: str | None, last_input: str | None = None) -> str:
        """Return the instructions with the memory blocks at their end, after one blank line.

        Blocks of these slots that the instructions hold already are replaced.
        """
        block = await self.block(last_input)
        return join_blocks(without_blocks(instructions or "", self._keys), block)

    async def block(self, last_input: str | None = None) -> str:
        """Return the memory blocks in slot order, "" where there is nothing to recall.

        `last_input` is the user's last message, for slots that recall by it.
        """
        async with self._recalling:
            if self._blocks is None:
                blocks = await asyncio.gather(*(self._recall(slot, last_input) for slot in self._slots))
                self._blocks = {slot.name: block for slot, block in zip(self._slots, blocks, strict=True) if block}
            return "\n\n".join(self._blocks.values())

    async def call(self, tool_name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        """Call one of the tools by name. Raises ToolInputError for an unknown name or wrong arguments."""
        for tool in self.tools:
            if tool.name == tool_name:
                return await tool.call(arguments)
        offered = ", ".join(tool.name for tool in self.tools) or "none"
        raise ToolInputError(f"there is no memory tool {tool_name!r} in this run; offered: {offered}")

    def snapshot(self) -> dict[str, Any]:
        """Return what was recalled as a JSON object, for a run that pauses. It holds memory: keep it as safely."""
        return _Snapshot(keys=self._keys, blocks=self._blocks).model_dump(mode="json")

    @classmethod
    def restore(cls, slots: Sequence[MemorySlot], context: MemoryContext | None, snapshot: Mapping[str, Any]) -> Self:
        """Go on with a paused run: the same blocks, nothing recalled again, and no tools.

        Raises MemoryInvalidError where the snapshot is none, or holds memory of other scope keys.
        """
        run = cls(slots, context)
        try:
            saved = _Snapshot.model_validate(snapshot)
        except ValidationError as error:
            raise MemoryInvalidError(f"this is no snapshot of a MemoryRun: {error}") from error
        for name in saved.blocks or ():
            if run._keys.get(name) != saved.keys.get(name):
                raise MemoryInvalidError(f"the snapshot holds memory {name!r} under another scope key than this run's")
        run._blocks = saved.blocks
        run.tools = []
        return run

    async def _recall(self, slot: MemorySlot, last_input: str | None) -> str:
        key = self._keys[slot.name]
        if key is None or not slot.recall.on_session_start:
            return ""
        query = last_input if slot.recall.query == "last-input" and last_input and last_input.strip() else None
        try:
            items = await list_items(slot, key, limit=slot.recall.max_items, query=query)
            return render_block(slot.name, items, show_ids=slot.expose.forget, max_chars=slot.recall.max_chars)
        except Exception as error:  # noqa: BLE001  # whatever fails here, the run goes on
            _warn_once(slot, error)
            return ""


def _resolve(slots: Sequence[MemorySlot], context: MemoryContext) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for slot in slots:
        if not isinstance(slot, MemorySlot):
            raise MemoryInvalidError(f"a run takes slots made by define_memory, not {slot!r}")
        if slot.name in keys:
            raise MemoryInvalidError(f"two slots of this run are called {slot.name!r}; give each its own name")
        keys[slot.name] = memory_key(slot, context)
    return keys


def _warn_once(slot: MemorySlot, error: Exception) -> None:
    if slot not in _warned:
        _warned.add(slot)
        logger.warning("memory '%s': recall failed, continuing without it: %s", slot.name, error)
