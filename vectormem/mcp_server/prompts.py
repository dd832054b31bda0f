"""The prompt that carries what is remembered: the protocol gives a server no way into a system prompt."""

from vectormem.adapters.missing import missing_extra
from vectormem.mcp_server.caller import SESSION_ARGUMENT, Caller
from vectormem.mcp_server.memories import Memories
from vectormem.mcp_server.sessions import needs_session

try:
    import mcp_types as types
    from mcp.shared.exceptions import MCPError
except ImportError as error:
    raise missing_extra("mcp", error) from error

NAME = "memory"
_DESCRIPTION = "What is remembered, to begin a conversation with."
_NOTHING = "Nothing is remembered yet."
_QUERY = types.PromptArgument(
    name="query", description="What the conversation is about, for memories that recall by it.", required=False
)
_SESSION = types.PromptArgument(
    name=SESSION_ARGUMENT, description="The conversation, for memories that belong to one.", required=False
)


async def list_prompts(
    memories: Memories, caller: Caller, params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    """Return the one prompt, where the caller has a slot."""
    slots = memories.slots(caller)
    arguments = [_QUERY, _SESSION] if any(needs_session(slot, caller) for slot in slots) else [_QUERY]
    prompt = types.Prompt(name=NAME, title="Memory", description=_DESCRIPTION, arguments=arguments)
    return types.ListPromptsResult(prompts=[prompt] if slots else [])


async def get_prompt(memories: Memories, caller: Caller, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Return a message of the user for each memory block. Raises MCPError for another prompt or argument."""
    given = params.arguments or {}
    if params.name != NAME:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    if unknown := given.keys() - {"query", SESSION_ARGUMENT}:
        raise MCPError(types.INVALID_PARAMS, f"Unknown argument of {NAME}: {min(unknown)}")
    session_id = given.get(SESSION_ARGUMENT) or None  # hosts send "" for what was not filled in
    blocks = await memories.recalled(caller, given.get("query"), session_id)
    messages = [types.PromptMessage(role="user", content=types.TextContent(text=text)) for text in blocks or [_NOTHING]]
    return types.GetPromptResult(description=_DESCRIPTION, messages=messages)
