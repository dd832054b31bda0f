"""Messages and tools of LangChain, made from those of a run and read for it."""

from collections.abc import Sequence
from typing import Any

from vectormem.adapters.attachment import AttachedRun, answer
from vectormem.adapters.missing import missing_extra
from vectormem.slots.tools import MemoryTool
from vectormem.sync import wait_for

try:
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool
except ImportError as error:
    raise missing_extra("langgraph", error) from error


def last_input(messages: Sequence[AnyMessage]) -> str | None:
    """Return the text of the user's last message."""
    place = _last_human(messages)
    return None if place is None else str(messages[place].text)


def turns_of(messages: Sequence[AnyMessage]) -> list[tuple[str, str]]:
    """Return the user's last message and the last answer to it, as (role, text)."""
    place = _last_human(messages)
    if place is None:
        return []
    answers = [str(message.text) for message in messages[place:] if isinstance(message, AIMessage)]
    return [("user", str(messages[place].text)), *(("assistant", text) for text in answers[-1:])]


def with_user_part(messages: list[AnyMessage], part: str) -> list[AnyMessage]:
    """Return the messages with a part of the user's role before the user's last message; "" changes nothing."""
    place = _last_human(messages) or 0
    return [*messages[:place], HumanMessage(part), *messages[place:]] if part else messages


async def with_system_part(system: SystemMessage | None, run: AttachedRun) -> SystemMessage | None:
    """Return the system message with the run's block at its end; where it has blocks, as one more of them."""
    if system is not None and not isinstance(system.content, str):
        part = await run.system_part()
        content = [*system.content, {"type": "text", "text": part}] if part else system.content
        return system.model_copy(update={"content": content})
    prompt = await run.system_prompt(None if system is None else str(system.content))
    if system is None:
        return SystemMessage(prompt) if prompt else None
    return system.model_copy(update={"content": prompt})


def as_tool(tool: MemoryTool) -> BaseTool:
    """Return the tool as LangChain gives it to a model."""

    async def call(**arguments: Any) -> str:
        return (await answer(tool, arguments)).text

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        metadata=dict(tool.annotations),
        func=lambda **arguments: wait_for(call(**arguments)),
        coroutine=call,
    )


async def tool_message(tool: MemoryTool, call: Any) -> ToolMessage:
    """Call the tool; return its result, or what was wrong, as the answer to the model's call."""
    result = await answer(tool, call["args"])
    status = "error" if result.is_error else "success"
    return ToolMessage(content=result.text, name=call["name"], tool_call_id=call["id"], status=status)


def name_of(tool: Any) -> str | None:
    """Return the name of a tool in whatever form a request holds it; None for one of the model's provider."""
    if not isinstance(tool, dict):
        return str(tool.name)
    return tool.get("name") or tool.get("function", {}).get("name")


def _last_human(messages: Sequence[AnyMessage]) -> int | None:
    places = (place for place in reversed(range(len(messages))) if isinstance(messages[place], HumanMessage))
    return next(places, None)
