"""Memory inside agents of LangChain: a middleware for `create_agent`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, NotRequired

from vectormem.adapters.attachment import AttachedRun, Attachment, Chat, Placement, Tools
from vectormem.adapters.langchain_parts import (
    as_tool,
    last_input,
    name_of,
    tool_message,
    turns_of,
    with_system_part,
    with_user_part,
)
from vectormem.adapters.missing import missing_extra
from vectormem.errors import MemoryInvalidError
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool
from vectormem.sync import wait_for

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import PrivateStateAttr
    from langgraph.channels.untracked_value import UntrackedValue
    from langgraph.config import get_config
except ImportError as error:
    raise missing_extra("langgraph", error) from error

_NOTHING: Mapping[str, Any] = {"keys": {}, "blocks": {}}


class MemoryState(AgentState[Any]):
    """What a run keeps of its memory, in channels that are no part of its input or output."""

    recalled_memory: NotRequired[Annotated[dict[str, Any] | None, PrivateStateAttr]]  # type: ignore[valid-type]
    offers_memory: NotRequired[Annotated[bool, UntrackedValue, PrivateStateAttr]]  # type: ignore[valid-type]
    """In no checkpoint: a run that goes on after a pause has lost it, and offers no memory tools."""


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Memory for an agent made by `create_agent`, in sync and async runs.

    Each run recalls once, when it starts; the block is in every request to the model, and never in messages
    or output. A paused run keeps what it recalled in its checkpoint until it has ended. `context` makes the
    `MemoryContext` of a run from LangGraph's `Runtime`; without it, see `default_context`. `placement`,
    `chat` and `tools` are those of `Attachment`. A run raises MemoryInvalidError for a scope that fails and
    for a tool whose name the agent has already.
    """

    state_schema = MemoryState

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        *,
        context: Callable[[Any], MemoryContext] | None = None,
        placement: Placement = "system",
        chat: Chat = None,
        tools: Tools = (),
    ) -> None:
        super().__init__()
        self._attachment = Attachment(slots, placement=placement, chat=chat, tools=tools)
        self._context = context or default_context

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return wait_for(_recall(self._start(runtime), state))

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return await _recall(self._start(runtime), state)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(wait_for(_remembering(request, *self._runs(request))))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(await _remembering(request, *self._runs(request)))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        tool = self._tool(request)
        return wait_for(tool_message(tool, request.tool_call)) if tool else handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        tool = self._tool(request)
        return await (tool_message(tool, request.tool_call) if tool else handler(request))

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        wait_for(self._start(runtime).record(turns_of(state["messages"])))
        return {"recalled_memory": None}

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        await self._start(runtime).record(turns_of(state["messages"]))
        return {"recalled_memory": None}

    def _start(self, runtime: Any) -> AttachedRun:
        return self._attachment.start(self._context(runtime))

    def _runs(self, request: Any) -> tuple[AttachedRun, Sequence[MemoryTool]]:
        """Return the run as it was recalled, and the tools that it offers."""
        context = self._context(request.runtime)
        recalled = self._attachment.resume(context, request.state.get("recalled_memory") or _NOTHING)
        offers_all = request.state.get("offers_memory", False)
        return recalled, self._attachment.start(context).tools if offers_all else recalled.tools

    def _tool(self, request: Any) -> MemoryTool | None:
        """Return the memory tool that is called, also where the call was approved after a pause."""
        if request.tool is not None:
            return None
        tools = self._start(request.runtime).tools
        return next((tool for tool in tools if tool.name == request.tool_call["name"]), None)


def default_context(runtime: Any) -> MemoryContext:
    """Return what LangGraph knows of a run: the session is its thread.

    `metadata` holds the fields of the runtime's context (a mapping, a dataclass or a model), `principal` is
    the user that a LangGraph server has verified.
    """
    given, server = runtime.context, getattr(runtime, "server_info", None)
    if is_dataclass(given):
        given = {field.name: getattr(given, field.name) for field in fields(given)}
    metadata = given if isinstance(given, Mapping) else getattr(given, "__dict__", {})
    thread_id = get_config().get("configurable", {}).get("thread_id")
    session_id = None if thread_id is None else str(thread_id)
    return MemoryContext(session_id=session_id, metadata=dict(metadata), principal=server and server.user)


async def _recall(run: AttachedRun, state: Any) -> dict[str, Any]:
    await run.run.block(last_input(state["messages"]))
    return {"recalled_memory": run.run.snapshot(), "offers_memory": True}


async def _remembering(request: Any, run: AttachedRun, tools: Sequence[MemoryTool]) -> Any:
    taken = {name_of(tool) for tool in request.tools}
    for tool in tools:
        if tool.name in taken:
            raise MemoryInvalidError(f"the agent has a tool {tool.name!r} of its own; rename it, or the memory slot")
    return request.override(
        system_message=await with_system_part(request.system_message, run),
        messages=with_user_part(request.messages, await run.user_part()),
        tools=[*request.tools, *map(as_tool, tools)],
    )
