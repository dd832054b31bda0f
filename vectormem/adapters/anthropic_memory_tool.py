"""Anthropic's memory tool over memory slots: each item is a file, /memories/<slot>/<id>.md."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from vectormem.adapters.memory_files import MemoryFiles
from vectormem.adapters.missing import missing_extra
from vectormem.errors import VectorMemError
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.sync import wait_for

try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        BetaFunctionToolResultType,
        ToolError,
    )
    from anthropic.types.beta import BetaCacheControlEphemeralParam, BetaMemoryTool20250818Command
except ImportError as error:
    raise missing_extra("anthropic", error) from error

__all__ = ["AsyncSlotMemoryTool", "SlotMemoryTool"]


class AsyncSlotMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`, over the slots that have a scope key in this context.

    `expose` of a slot says what the model may do: recall (view), remember (create, str_replace, insert,
    rename) and forget (delete). What goes wrong is an error result for the model. Raises
    MemoryInvalidError for slots with an item schema and for providers without `upsert`.
    """

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        context: MemoryContext | None = None,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = MemoryFiles(slots, context)

    async def call(self, input: object) -> BetaFunctionToolResultType:
        return await self.execute(_command(input))

    async def _done(self, command: Any) -> str:
        try:
            return await _do(self._files, command)
        except VectorMemError as error:
            raise ToolError(str(error)) from error

    view = create = str_replace = insert = delete = rename = _done


class SlotMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for the blocking `Anthropic` client; all else is as in `AsyncSlotMemoryTool`."""

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        context: MemoryContext | None = None,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = AsyncSlotMemoryTool(slots, context)

    def call(self, input: object) -> BetaFunctionToolResultType:
        return self.execute(_command(input))

    def _done(self, command: Any) -> BetaFunctionToolResultType:
        return wait_for(self._tool.execute(command))

    view = create = str_replace = insert = delete = rename = _done


async def _do(files: MemoryFiles, command: BetaMemoryTool20250818Command) -> str:
    match command.command:
        case "view":
            return await files.view(command.path, command.view_range)
        case "create":
            return await files.create(command.path, command.file_text)
        case "str_replace":
            return await files.replace(command.path, command.old_str, command.new_str or "")
        case "insert":
            return await files.insert(command.path, command.insert_line, command.insert_text)
        case "delete":
            return await files.delete(command.path)
        case _:
            return await files.rename(command.old_path, command.new_path)


def _command(input: object) -> BetaMemoryTool20250818Command:
    """Return what the model sent as a command; the SDK would take anything."""
    try:
        command: BetaMemoryTool20250818Command = TypeAdapter(BetaMemoryTool20250818Command).validate_python(input)
    except ValidationError as error:
        reasons = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ToolError(f"this is no command of the memory tool: {reasons}") from error
    return command
