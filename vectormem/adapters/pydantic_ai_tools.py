"""Memory tools as tools of pydantic-ai, for agents without `AgentMemory` as for those with it."""

from dataclasses import replace
from typing import Any

from vectormem.adapters.missing import missing_extra
from vectormem.errors import VectorMemError
from vectormem.slots.tools import MemoryTool

try:
    from pydantic_ai import RunContext, Tool, ToolDefinition, ToolFailed
except ImportError as error:
    raise missing_extra("pydantic-ai", error) from error


def pydantic_ai_tool(tool: MemoryTool) -> Tool[Any]:
    """Return a tool for `Agent(tools=...)`; what is wrong with a call is told to the model and never ends the run."""

    async def call(**arguments: Any) -> dict[str, Any]:
        try:
            return await tool.call(arguments)
        except VectorMemError as error:
            raise ToolFailed(str(error)) from error

    async def shown(_: RunContext[Any], given: ToolDefinition) -> ToolDefinition:
        schema, annotations = tool.input_schema, {"annotations": tool.annotations}
        return replace(given, parameters_json_schema=schema, include_return_schema=False, metadata=annotations)

    return Tool(call, takes_ctx=False, name=tool.name, description=tool.description, prepare=shown)
