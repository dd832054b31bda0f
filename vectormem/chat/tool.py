"""The tool by which a model looks things up in earlier conversations."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from vectormem.chat.messages import MessageMatch
from vectormem.errors import VectorMemError
from vectormem.slots.tools import MemoryTool

logger = logging.getLogger("vectormem")

Search: TypeAlias = Callable[[str, int, Any], Awaitable[Sequence[MessageMatch]]]

_MOST_RETURNED = 50
_NOTHING = "Nothing relevant was found in earlier conversations."
_DESCRIPTION = (
    "Search the earlier messages of the user's conversations by meaning. Use it when the user refers to something "
    "said before that this conversation does not hold."
)


class RetrievalTool(MemoryTool):
    """A memory tool whose failures are results: a chat turn never dies of its memory."""

    async def call(self, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        """Run the tool; return `{"messages": [...]}`, or `{"error": ...}` whatever goes wrong."""
        try:
            return await super().call(arguments)
        except VectorMemError as error:
            return {"error": str(error)}
        except Exception as error:
            logger.exception("the tool %s failed", self.name)
            return {"error": f"{self.name} failed: {error}"}


def retrieval_tool(search: Search, limit: int, sort_by: str) -> MemoryTool:
    """Return the tool `search_memory` over `search(query, limit, sort_by)`, with these defaults."""

    async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
        wanted = min(int(arguments.get("limit", limit)), max(_MOST_RETURNED, limit))
        matches = await search(arguments["query"], wanted, arguments.get("sortBy", sort_by))
        found: dict[str, Any] = {"messages": list(map(_shown, matches))}
        return found if matches else {**found, "note": _NOTHING}

    return RetrievalTool(
        name="search_memory",
        description=_DESCRIPTION,
        input_schema=_input_schema(limit, sort_by),
        annotations={"readOnlyHint": True, "destructiveHint": False},
        handler=handle,
        drop_nulls=True,
    )


def _shown(match: MessageMatch) -> dict[str, Any]:
    message = match.message.model_dump(mode="json")
    return {
        "conversationId": message["conversation_id"],
        "role": message["role"],
        "text": match.text,
        "createdAt": message["created_at"],
        "similarity": match.similarity,
    }


def _input_schema(limit: int, sort_by: str) -> dict[str, Any]:
    most = max(_MOST_RETURNED, limit)
    return {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words of a question or statement."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": f"How many messages to return: {limit} if left out, at most {most}.",
            },
            "sortBy": {
                "type": "string",
                "enum": ["similarity", "chronological"],
                "description": f"Most relevant first, or oldest first; {sort_by} if left out.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }
