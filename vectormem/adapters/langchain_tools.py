"""Memory tools as tools of LangChain, for graphs that are built by hand as for `MemoryMiddleware`."""

from typing import Any

from vectormem.adapters.attachment import answer
from vectormem.adapters.missing import missing_extra
from vectormem.slots.tools import MemoryTool
from vectormem.sync import wait_for

try:
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
except ImportError as error:
    raise missing_extra("langgraph", error) from error


def langchain_tool(tool: MemoryTool) -> BaseTool:
    """Return a tool for `bind_tools` and a `ToolNode`; what is wrong with a call is its answer, marked as an error."""

    async def call(**arguments: Any) -> str:
        result = await answer(tool, arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        metadata=dict(tool.annotations),
        func=lambda **arguments: wait_for(call(**arguments)),
        coroutine=call,
        handle_tool_error=True,
    )
