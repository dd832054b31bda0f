"""What memory reads from a run of pydantic-ai, and what it adds to a request and to no history."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic_ai import AgentRunResult, DeferredToolRequests, DeferredToolResults, RunContext
from pydantic_ai.messages import (
    BinaryContent,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_core import to_json

from vectormem.slots.scope import MemoryContext

ContextOf: TypeAlias = Callable[[RunContext[Any]], MemoryContext]


def run_context(ctx: RunContext[Any]) -> MemoryContext:
    """Return what memory knows of a run: its conversation is the session, its `deps` are the principal."""
    return MemoryContext(session_id=ctx.conversation_id, metadata=ctx.metadata or {}, principal=ctx.deps)


def last_input(ctx: RunContext[Any]) -> str:
    """Return the text of the run's prompt; where it has none, as after a pause, that of the last one before."""
    if ctx.prompt is not None:
        return _text(ctx.prompt)
    prompts = (part for message in reversed(ctx.messages) for part in reversed(_prompts(message)))
    return next((_text(part.content) for part in prompts), "")


def last_response(messages: Sequence[ModelMessage]) -> ModelResponse | None:
    """Return the latest answer of a model."""
    return next((message for message in reversed(messages) if isinstance(message, ModelResponse)), None)


def waiting_tools(response: ModelResponse | None, results: DeferredToolResults) -> set[str]:
    """Return the names of the tools whose calls waited for an approval that is there now."""
    calls = response.tool_calls if response else ()
    return {call.tool_name for call in calls if call.tool_call_id in results.approvals}


def turns_of(prompt: str | Sequence[UserContent] | None, result: AgentRunResult[Any]) -> Iterator[tuple[str, str]]:
    """Yield what the user said and what the run answered: its output, as JSON where that is neither text nor a file."""
    if prompt is not None:
        yield "user", _text(prompt)
    if isinstance(result.output, str):
        yield "assistant", result.output
    elif isinstance(result.output, DeferredToolRequests | BinaryContent):
        yield "assistant", result.response.text or ""
    else:
        yield "assistant", to_json(result.output, fallback=str).decode()


def with_instructions(request: ModelRequestContext, block: str) -> ModelRequestContext:
    """Return the request with the block at the end of its instructions."""
    parameters = request.model_request_parameters
    parts = [*(parameters.instruction_parts or ()), InstructionPart(block, dynamic=True)]
    return replace(request, model_request_parameters=replace(parameters, instruction_parts=parts))


def without_tools(request: ModelRequestContext, names: Collection[str]) -> ModelRequestContext:
    """Return the request without the tools of these names."""
    if not names:
        return request
    parameters = request.model_request_parameters
    tools = [tool for tool in parameters.function_tools if tool.name not in names]
    return replace(request, model_request_parameters=replace(parameters, function_tools=tools))


def with_user_part(messages: Sequence[ModelMessage], block: str) -> list[ModelMessage]:
    """Return the messages with the block before the last thing that the user said; the given ones stay as they are."""
    for position in reversed(range(len(messages))):
        message = messages[position]
        if prompts := _prompts(message):
            return [*messages[:position], _inserted(message, prompts[-1], block), *messages[position + 1 :]]
    return [*messages, ModelRequest([UserPromptPart(block)])]


def _inserted(message: ModelMessage, prompt: UserPromptPart, block: str) -> ModelMessage:
    assert isinstance(message, ModelRequest)
    place = next(position for position, part in enumerate(message.parts) if part is prompt)
    parts = [*message.parts[:place], UserPromptPart(block, timestamp=prompt.timestamp), *message.parts[place:]]
    return replace(message, parts=parts)


def _prompts(message: ModelMessage) -> list[UserPromptPart]:
    return [part for part in message.parts if isinstance(part, UserPromptPart)]


def _text(content: str | Sequence[UserContent]) -> str:
    if isinstance(content, str):
        return content
    texts = (part.content if isinstance(part, TextContent) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))
