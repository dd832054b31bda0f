"""Memory tools as tools of LangChain, for graphs that are built by hand as for `MemoryMiddleware`."""

from typing import Any

from vectormem.adapters.attachment import answer
from vectormem.adapters.missing import missing_extra
from vectormem.slots.tools import MemoryTool
from vectormem.sync import wait_for

try:
    from langchain_core.tools import BaseTool, ToolException
except ImportError as error:
    raise missing_extra("langgraph", error) from error


def langchain_tool(tool: MemoryTool) -> BaseTool:
    """Return a tool for `bind_tools` and a `ToolNode`; what is wrong with a call is its answer, marked as an error."""
    shown: dict[str, Any] = {"name": tool.name, "description": tool.description, "args_schema": tool.input_schema}
    return _Tool(tool=tool, metadata=dict(tool.annotations), handle_tool_error=True, **shown)


def name_of(tool: Any) -> str | None:
    """Return the name of a tool in whatever form a request holds it; None for one of the model's provider."""
    if isinstance(tool, dict):
        return tool.get("name") or tool.get("function", {}).get("name")
    return str(tool.name)


class _Tool(BaseTool):
    """Any name can be that of an argument: the methods take none by name, not even `self`."""

    tool: Any

    def _run(self, /, **arguments: Any) -> str:
        return wait_for(self._arun(**arguments))

    async def _arun(self, /, **arguments: Any) -> str:
        result = await answer(self.tool, arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text
