"""The model `test` of `chat`: no model at all, but it remembers what it is told and answers from memory."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from vectormem.ranking.terms import query_terms, terms

_QUESTION = re.compile(r"(what|who|where|when|why|which|how|do|does|did|is|are|am|can|tell me)\b", re.IGNORECASE)
_GREETING = re.compile(r"(hi|hello|hey|good (morning|evening)|thanks|thank you|bye|ok)\b[\s!.,]*$", re.IGNORECASE)
_FORGET = re.compile(r"(please )?forget\b", re.IGNORECASE)
_ITEM = re.compile(r"^- (.*?)(?: \(id: ([^()]*)\))?$", re.MULTILINE)
_BLOCK = re.compile(r'<memory name="[^"]*">\n(.*?)\n</memory>', re.DOTALL)


def offline_model() -> FunctionModel:
    """Return the model; it needs no network and no key."""
    return FunctionModel(stream_function=_respond, model_name="test")


async def _respond(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    said = _last_prompt(messages)
    last = messages[-1]
    results = [part.content for part in last.parts if isinstance(part, ToolReturnPart)]
    planned: str | DeltaToolCalls = _report(results) if results else _plan(said, info)
    if not isinstance(planned, str):
        yield planned
        return
    for word in re.findall(r"\S+\s*", planned):
        yield word


def _plan(said: str, info: AgentInfo) -> str | DeltaToolCalls:
    """Return an answer, or the call of a tool: what is asked is answered, what is told is remembered."""
    offered = [tool.name for tool in info.function_tools]
    items = [item for block in _BLOCK.findall(info.instructions or "") for item in _ITEM.findall(block)]
    if _GREETING.match(said):
        return "Hello! Tell me something and I will remember it, or ask me about something."
    if _FORGET.match(said):
        return _forget(said, items, offered)
    if said.rstrip().endswith("?") or _QUESTION.match(said):
        if items:
            return "This is what I remember: " + " ".join(text for text, _ in items)
        return _call("search_memory", {"query": said}) if "search_memory" in offered else _report([])
    remember = next((name for name in offered if name.startswith("remember_")), None)
    return _call(remember, {"text": said}) if remember else "I have no memory to keep that in."


def _forget(said: str, items: Sequence[tuple[str, str]], offered: Sequence[str]) -> str | DeltaToolCalls:
    wanted = set(query_terms(said)) - set(terms("forget please"))
    tool = next((name for name in offered if name.startswith("forget_")), None)
    known = [item_id for text, item_id in items if item_id and wanted & set(terms(text))]
    return _call(tool, {"id": known[0]}) if tool and known else "There is nothing like that to forget."


def _report(results: Sequence[Any]) -> str:
    """Return what there is to say about the results of tools."""
    for result in results:
        if not isinstance(result, Mapping):
            return f"That did not work: {result}"
        if result.get("remembered"):
            return "I will remember that."
        if result.get("forgotten"):
            return "It is forgotten."
        if found := result.get("messages"):
            return f"You talked about it before: {found[0]['text']}"
    return "I do not know that yet. Tell me, and I will remember it."


def _call(name: str, arguments: Mapping[str, Any]) -> DeltaToolCalls:
    return {0: DeltaToolCall(name, json.dumps(arguments))}


def _last_prompt(messages: Sequence[ModelMessage]) -> str:
    requests = (message for message in reversed(messages) if isinstance(message, ModelRequest))
    parts = (part for request in requests for part in reversed(request.parts) if isinstance(part, UserPromptPart))
    prompt = next(parts, None)
    return prompt.content if prompt and isinstance(prompt.content, str) else ""
