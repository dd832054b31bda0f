"""The tools that the model gets for a slot: remember, recall and forget."""

import copy
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from vectormem.canonical import canonical_json, check_json, parse_json
from vectormem.errors import MemoryInvalidError, ToolInputError
from vectormem.items import MemoryItem
from vectormem.slots.access import forget_item, list_items, remember_item
from vectormem.slots.block import fit
from vectormem.slots.define import MemorySlot
from vectormem.slots.schema import check_arguments, validator_of

Handler: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

_MOST_RECALLED = 100
_LATER = {"global": "in later conversations", "session": "later in this conversation"}
_LATER_WITH_KEY = "in later conversations with the same user or key"


class MemoryTool:
    """A tool that a model can call: its name, description, JSON Schema and what it does.

    `annotations` are those of MCP tools: `readOnlyHint` and `destructiveHint`.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        input_schema: dict[str, Any],
        annotations: dict[str, Any],
        handler: Handler,
        drop_nulls: bool = False,
    ) -> None:
        self.name = name
        self.description = description
        self.input_schema = input_schema
        self.annotations = annotations
        self._validator = validator_of(input_schema)
        self._handler = handler
        self._drop_nulls = drop_nulls

    async def call(self, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
        """Run the tool with arguments as an object or as JSON text; return a JSON object.

        Raises ToolInputError where the arguments do not match `input_schema`, and what the provider raises.
        """
        given = self._parse(arguments)
        check_arguments(self._validator, given)
        return await self._handler(given)

    def to_openai(self) -> dict[str, Any]:
        """Return the tool as the chat-completions API of OpenAI takes it."""
        function = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": function}

    def to_anthropic(self) -> dict[str, Any]:
        """Return the tool as the messages API of Anthropic takes it."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    def __repr__(self) -> str:
        return f"MemoryTool({self.name!r})"

    def _parse(self, arguments: object) -> dict[str, Any]:
        if isinstance(arguments, str):
            try:
                arguments = parse_json(arguments)
            except (ValueError, RecursionError) as error:
                raise ToolInputError(f"the arguments of {self.name} are not valid JSON: {error}") from error
        if not isinstance(arguments, Mapping):
            raise ToolInputError(f"the arguments of {self.name} must be an object, not {type(arguments).__name__}")
        try:
            check_json(arguments, "the argument")
        except MemoryInvalidError as error:
            raise ToolInputError(f"the arguments of {self.name} are no JSON object: {error}") from error
        return {name: value for name, value in arguments.items() if not (self._drop_nulls and value is None)}


def slot_tools(slot: MemorySlot, key: str) -> list[MemoryTool]:
    """Return the tools that the slot offers under this provider key: remember, recall, forget."""
    offered = (
        (slot.expose.remember, _remember_tool),
        (slot.expose.recall, _recall_tool),
        (slot.expose.forget, _forget_tool),
    )
    return [make(slot, key) for wanted, make in offered if wanted]


def _remember_tool(slot: MemorySlot, key: str) -> MemoryTool:
    later = _LATER.get(slot.scope, _LATER_WITH_KEY) if isinstance(slot.scope, str) else _LATER_WITH_KEY
    return MemoryTool(
        name=f"remember_{slot.name}",
        description=_described(slot, f'Save an item to the "{slot.name}" memory. It is recalled {later}.'),
        input_schema=slot.item_schema.json_schema if slot.item_schema else copy.deepcopy(_TEXT_INPUT),
        annotations={"readOnlyHint": False, "destructiveHint": bool(slot.item_key)},
        handler=partial(_remember, slot, key),
    )


def _recall_tool(slot: MemorySlot, key: str) -> MemoryTool:
    by_meaning = getattr(slot.provider, "ranks_by_meaning", False)
    how = "by meaning, most relevant first" if by_meaning else "by words; without a query, newest items first"
    verb = "Search" if by_meaning else "Look items up in"
    return MemoryTool(
        name=f"recall_{slot.name}",
        description=_described(slot, f'{verb} the "{slot.name}" memory {how}.'),
        input_schema=_recall_input(slot.recall.max_items),
        annotations={"readOnlyHint": True, "destructiveHint": False},
        handler=partial(_recall, slot, key),
        drop_nulls=True,
    )


def _forget_tool(slot: MemorySlot, key: str) -> MemoryTool:
    return MemoryTool(
        name=f"forget_{slot.name}",
        description=_described(slot, f'Delete an item of the "{slot.name}" memory by its id.'),
        input_schema=copy.deepcopy(_ID_INPUT),
        annotations={"readOnlyHint": False, "destructiveHint": True},
        handler=partial(_forget, slot, key),
    )


async def _remember(slot: MemorySlot, key: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if slot.item_schema is None:
        if not arguments["text"].strip():
            raise ToolInputError("text: must not be blank")
        item, replaced = await remember_item(slot, key, arguments["text"], None)
    else:
        parsed = slot.item_schema.parse(arguments)
        item, replaced = await remember_item(slot, key, canonical_json(parsed), parsed)
    return {"remembered": item.id, "replaced": True} if replaced else {"remembered": item.id}


async def _recall(slot: MemorySlot, key: str, arguments: dict[str, Any]) -> dict[str, Any]:
    limit = min(int(arguments.get("limit", slot.recall.max_items)), _MOST_RECALLED)
    items = await list_items(slot, key, limit=limit, query=arguments.get("query"))
    texts = [item.text for item in items]
    kept = dict(enumerate(texts))
    if slot.recall.max_chars is not None:
        kept = fit(texts, [0] * len(texts), slot.recall.max_chars)
    return {"items": [_shown(slot, items[position], text) for position, text in kept.items()]}


async def _forget(slot: MemorySlot, key: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if await forget_item(slot, key, arguments["id"]):
        return {"forgotten": arguments["id"]}
    return {"forgotten": None, "reason": "No item with this id."}


def _shown(slot: MemorySlot, item: MemoryItem, text: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": item.id, "text": text, "createdAt": item.model_dump(mode="json")["created_at"]}
    if item.score is not None:
        shown["score"] = item.score
    if slot.item_schema is None and (metadata := item.own_metadata()):
        shown["metadata"] = metadata
    return shown


def _described(slot: MemorySlot, text: str) -> str:
    return f"{text} {slot.description}" if slot.description else text


_TEXT_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1, "description": "What to remember, one short statement."}},
    "required": ["text"],
    "additionalProperties": False,
}

_ID_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string", "minLength": 1, "description": "The id of the item."}},
    "required": ["id"],
    "additionalProperties": False,
}


def _recall_input(default_limit: int) -> dict[str, Any]:
    query = {"type": "string", "description": "What to look for; leave it out for the newest items."}
    limit = {
        "type": "integer",
        "minimum": 1,
        "description": f"How many items to return: {default_limit} if left out, at most {_MOST_RECALLED}.",
    }
    return {"type": "object", "properties": {"query": query, "limit": limit}, "additionalProperties": False}
