"""Slots as resources: `memory://NAME` is text, and `memory://NAME?query=...` what fits a query."""

from urllib.parse import parse_qsl, urlsplit

from vectormem.adapters.missing import missing_extra
from vectormem.errors import ToolInputError
from vectormem.mcp_server.caller import SESSION_ARGUMENT, Caller
from vectormem.mcp_server.memories import Memories
from vectormem.mcp_server.sessions import needs_session
from vectormem.slots.define import MemorySlot

try:
    import mcp_types as types
    from mcp.shared.exceptions import MCPError
except ImportError as error:
    raise missing_extra("mcp", error) from error

_SCHEME = "memory"
_TEXT = "text/plain"


async def list_resources(
    memories: Memories, caller: Caller, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """Return the slots that can be read as they are; those of a session are among the templates."""
    slots = [slot for slot in _readable(memories, caller) if not needs_session(slot, caller)]
    resources = [
        types.Resource(uri=_uri(slot), name=slot.name, description=_about(slot), mime_type=_TEXT) for slot in slots
    ]
    return types.ListResourcesResult(resources=resources)


async def list_templates(
    memories: Memories, caller: Caller, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """Return how each slot is read by a query, or in a session."""
    templates = [
        types.ResourceTemplate(
            uri_template=f"{_uri(slot)}{{?{','.join(names)}}}",
            name=f"{slot.name} by {' and '.join(names)}",
            description=_about(slot),
            mime_type=_TEXT,
        )
        for slot in _readable(memories, caller)
        if (names := _parameters(slot, caller))
    ]
    return types.ListResourceTemplatesResult(resource_templates=templates)


async def read_resource(
    memories: Memories, caller: Caller, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """Return the text of a slot. Raises MCPError for an address of nothing that this caller may read."""
    slot, given = _find(memories, caller, params.uri)
    text = await memories.text(caller, slot, given.get("query"), given.get(SESSION_ARGUMENT))
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type=_TEXT, text=text)])


def _readable(memories: Memories, caller: Caller) -> list[MemorySlot]:
    """Return the slots that a model would see in any case, by itself or by its tool."""
    return [slot for slot in memories.slots(caller) if slot.expose.recall or slot.recall.on_session_start]


def _parameters(slot: MemorySlot, caller: Caller) -> list[str]:
    session = [SESSION_ARGUMENT] if needs_session(slot, caller) else []
    return [*session, "query"] if slot.expose.recall else session


def _find(memories: Memories, caller: Caller, uri: str) -> tuple[MemorySlot, dict[str, str]]:
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise _not_found(uri) from error
    for slot in _readable(memories, caller):
        if (parts.scheme, parts.netloc, parts.path.strip("/"), parts.fragment) == (_SCHEME, slot.name, "", ""):
            given = dict(parse_qsl(parts.query, keep_blank_values=True))
            if unknown := given.keys() - set(_parameters(slot, caller)):
                raise ToolInputError(f"{_uri(slot)} has no parameter {min(unknown)!r}")
            return slot, given
    raise _not_found(uri)


def _not_found(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"Unknown resource: {uri}", {"uri": uri})


def _uri(slot: MemorySlot) -> str:
    return f"{_SCHEME}://{slot.name}"


def _about(slot: MemorySlot) -> str:
    return slot.description or f'What the "{slot.name}" memory holds, newest first, or by a query.'
