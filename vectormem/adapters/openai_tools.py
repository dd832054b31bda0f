"""Memory tools as function tools of the OpenAI Agents SDK."""

import copy
from collections.abc import Sequence
from typing import Any

from vectormem.adapters.attachment import answer
from vectormem.adapters.missing import missing_extra
from vectormem.errors import MemoryInvalidError
from vectormem.slots.tools import MemoryTool

try:
    from agents import FunctionTool, RunContextWrapper
except ImportError as error:
    raise missing_extra("openai-agents", error) from error


def as_function_tool(tool: MemoryTool) -> FunctionTool:
    """Return the tool for the SDK; what is wrong with a call is told to the model, and the run goes on."""

    async def invoke(_: RunContextWrapper[Any], arguments: str) -> str:
        result = await answer(tool, arguments or "{}")
        return f"Error: {result.text}" if result.is_error else result.text

    schema = copy.deepcopy(tool.input_schema)
    return FunctionTool(tool.name, tool.description, schema, invoke, strict_json_schema=False)


def check_names(memory_tools: Sequence[Any], others: Sequence[Any]) -> None:
    """Raise MemoryInvalidError where a memory tool has the name of another tool."""
    taken = {tool.name for tool in others}
    for tool in memory_tools:
        if tool.name in taken:
            raise MemoryInvalidError(f"two tools of this agent are called {tool.name!r}; rename the slot or the tool")
        taken.add(tool.name)
