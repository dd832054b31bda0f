"""Memory inside agents of LangChain: a middleware for `create_agent`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, NotRequired, Unpack

from vectormem.adapters.attachment import AttachedRun, Attachment, ContextOf, Options
from vectormem.adapters.langchain_tools import langchain_tool, name_of
from vectormem.adapters.missing import missing_extra
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.sync import wait_for

try:
    from langchain.agents.middleware.types import AgentMiddleware, AgentState, ExtendedModelResponse, PrivateStateAttr
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
    from langchain_core.tools import BaseTool
    from langgraph.channels.untracked_value import UntrackedValue
    from langgraph.config import get_config
    from langgraph.types import Command
except ImportError as error:
    raise missing_extra("langgraph", error) from error


class MemoryState(AgentState[Any]):
    """What a run keeps of its memory, in channels that are no part of its input or output."""

    recalled_memory: NotRequired[Annotated[dict[str, Any] | None, PrivateStateAttr]]  # type: ignore[valid-type]
    offers_memory: NotRequired[Annotated[bool, UntrackedValue, PrivateStateAttr]]  # type: ignore[valid-type]
    """In no checkpoint: None in a run that goes on after a pause, False once its model was asked again."""


def default_context(runtime: Any) -> MemoryContext:
    """Return what LangGraph knows of a run: its thread is the session, a user that a server verified the principal.

    `metadata` holds the fields of the runtime's context: a mapping, a dataclass or a model.
    """
    given, server = runtime.context, getattr(runtime, "server_info", None)
    if is_dataclass(given):
        given = {field.name: getattr(given, field.name) for field in fields(given)}
    metadata = given if isinstance(given, Mapping) else getattr(given, "__dict__", {})
    thread_id = get_config().get("configurable", {}).get("thread_id")
    session_id = None if thread_id is None else str(thread_id)
    return MemoryContext(session_id=session_id, metadata=dict(metadata), principal=server and server.user)


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Memory for an agent made by `create_agent`, in sync and async runs.

    Each run recalls once, when it starts; the block is in every request to the model, and never in messages or output.
    A paused run keeps what it recalled in its checkpoint until it has ended. `context` reads LangGraph's `Runtime`;
    `placement`, `chat` and `tools` are those of `Options`. A run raises MemoryInvalidError for a scope that fails and
    for a tool whose name the agent has already.
    """

    state_schema = MemoryState

    def __init__(
        self, slots: Sequence[MemorySlot], *, context: ContextOf = default_context, **options: Unpack[Options]
    ) -> None:
        super().__init__()
        self._attachment = Attachment(slots, **options)
        self._context = context

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return wait_for(_recall(self._start(runtime), state))

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return await _recall(self._start(runtime), state)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return _noted(request, handler(wait_for(_remembering(request, self._run(request)))))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return _noted(request, await handler(await _remembering(request, self._run(request))))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return tool.invoke(request.tool_call) if (tool := self._tool(request)) else handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        tool = self._tool(request)
        return await (tool.ainvoke(request.tool_call) if tool else handler(request))

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return wait_for(_record(self._start(runtime), state))

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return await _record(self._start(runtime), state)

    def _start(self, runtime: Any) -> AttachedRun:
        return self._attachment.start(self._context(runtime))

    def _run(self, request: Any) -> AttachedRun:
        """Return the run with what it recalled; all of its tools may be called until it has paused."""
        fresh = self._start(request.runtime)
        approved = [tool.name for tool in fresh.run.tools] if request.state.get("offers_memory") else []
        snapshot = request.state.get("recalled_memory") or {"keys": {}, "blocks": {}}
        return self._attachment.resume(fresh.context, snapshot, approved=approved)

    def _tool(self, request: Any) -> BaseTool | None:
        """Return the memory tool that is called; in a run that has paused only where the call was waiting then."""
        if request.tool is not None or request.state.get("offers_memory") is False:
            return None
        tools = self._start(request.runtime).tools
        return next((langchain_tool(tool) for tool in tools if tool.name == request.tool_call["name"]), None)


async def _recall(run: AttachedRun, state: Any) -> dict[str, Any]:
    await run.run.block(next((str(message.text) for message in _last_turn(state["messages"])), None))
    return {"recalled_memory": run.run.snapshot(), "offers_memory": True}


async def _record(run: AttachedRun, state: Any) -> dict[str, Any]:
    user, *others = _last_turn(state["messages"]) or [HumanMessage("")]
    said = [str(message.text) for message in others if isinstance(message, AIMessage)]
    await run.record([("user", str(user.text)), ("assistant", state.get("structured_response") or (said or [""])[-1])])
    return {"recalled_memory": None}


async def _remembering(request: Any, run: AttachedRun) -> Any:
    tools, part = run.callable_beside(map(name_of, request.tools)), await run.user_part()
    system = request.system_message or SystemMessage("")
    content = await run.system_content(system.content)
    place = len(request.messages) - len(_last_turn(request.messages) or request.messages)
    return request.override(
        system_message=system.model_copy(update={"content": content}) if content else request.system_message,
        messages=[*request.messages[:place], *([HumanMessage(part)] if part else ()), *request.messages[place:]],
        tools=[*request.tools, *map(langchain_tool, tools)],
    )


def _noted(request: Any, response: Any) -> Any:
    """Note that the model of a run that had paused was asked again, without memory tools."""
    if request.state.get("offers_memory"):
        return response
    return ExtendedModelResponse(response, Command(update={"offers_memory": False}))


def _last_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Return the user's last message and all that followed; nothing, where there is none."""
    places = (place for place in reversed(range(len(messages))) if isinstance(messages[place], HumanMessage))
    return messages[next(places, len(messages)) :]
