"""Tools in the words of the protocol."""

import json

from vectormem.adapters.missing import missing_extra
from vectormem.mcp_server.caller import Caller
from vectormem.mcp_server.memories import Memories, OfferedTool

try:
    import mcp_types as types
    from mcp.shared.exceptions import MCPError
except ImportError as error:
    raise missing_extra("mcp", error) from error


async def list_tools(
    memories: Memories, caller: Caller, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """Return the tools that this caller has."""
    return types.ListToolsResult(tools=list(map(_shown, memories.tools(caller))))


async def call_tool(memories: Memories, caller: Caller, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Call a tool; what goes wrong in it is a result that says so. Raises MCPError for a tool that is not there."""
    answer = await memories.call(caller, params.name, params.arguments or {})
    if answer is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    failed = answer.is_error or json.loads(answer.text).keys() == {"error"}
    return types.CallToolResult(content=[types.TextContent(text=answer.text)], is_error=failed)


def _shown(offered: OfferedTool) -> types.Tool:
    return types.Tool(
        name=offered.tool.name,
        description=offered.tool.description,
        input_schema=offered.input_schema,
        annotations=types.ToolAnnotations.model_validate({**offered.tool.annotations, "openWorldHint": False}),
    )
