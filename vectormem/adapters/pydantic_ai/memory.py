"""Memory inside pydantic-ai: `AgentMemory` is a capability of an agent."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from pydantic_ai import AgentRunResult, DeferredToolRequests, DeferredToolResults, RunContext, UserPromptNode
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import AbstractToolset

from vectormem.adapters.attachment import AttachedRun, Attachment, Chat, Placement, Tools
from vectormem.adapters.pauses import Pauses, PausesInProcess, tolerated
from vectormem.adapters.pydantic_ai import runs
from vectormem.adapters.pydantic_ai.tools import MemoryToolset
from vectormem.errors import MemoryInvalidError
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool


class AgentMemory(AbstractCapability[AgentDepsT]):
    """Gives an agent its memory: `Agent(..., capabilities=[AgentMemory(slots)])`.

    What a run recalls is in each of its requests and in no stored history. `context` says whose run it is;
    `placement`, `chat` and `tools` are those of `Attachment`. What a run had recalled when it paused for
    an approval waits in `pauses`, by default in this object. A run fails with MemoryInvalidError, before its
    first request, where a scope fails or two slots have one name. An agent takes one AgentMemory.
    """

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        *,
        context: runs.ContextOf = runs.run_context,
        placement: Placement = "system",
        chat: Chat = None,
        tools: Tools = (),
        pauses: Pauses | None = None,
        id: str = "vectormem",
    ) -> None:
        self.id = id
        self._attachment = Attachment(slots, placement=placement, chat=chat, tools=tools)
        self._context = context
        self._pauses = PausesInProcess() if pauses is None else pauses
        self._run: AttachedRun | None = None
        self._is_lent = False
        self._paused_run: str | None = None
        self._approved: list[MemoryTool] = []

    @classmethod
    def of(cls, ctx: RunContext[Any]) -> Self:
        """Return the memory of the run that goes on; given to the run of a hand-off target, it replaces the target's.

        Raises MemoryInvalidError where the run has none.
        """
        for capability in ctx.capabilities.values():
            if isinstance(capability, cls) and capability._run is not None:
                return capability
        raise MemoryInvalidError("this run has no memory: its agent has no AgentMemory among its capabilities")

    def under(self, ctx: RunContext[Any]) -> Self:
        """Return this memory with the scope keys of the run that goes on, for the run of a sub-agent."""
        context = AgentMemory.of(ctx).context
        sub_agent = copy.copy(self)
        sub_agent._context = lambda _: context
        return sub_agent

    @property
    def context(self) -> MemoryContext:
        """Whose run this is the memory of."""
        return self._bound.context

    @property
    def recalled(self) -> Mapping[str, str]:
        """The blocks that this run has recalled, by slot; empty before its first request."""
        return self._bound.run.snapshot()["blocks"] or {}

    @property
    def offered(self) -> Sequence[MemoryTool]:
        """The tools that this run may call now."""
        return () if self._run is None else [*self._run.tools, *self._approved]

    def get_toolset(self) -> AbstractToolset[AgentDepsT]:
        return MemoryToolset(self)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Self:
        bound = copy.copy(self)
        bound._is_lent = self._run is not None
        return bound

    async def before_run(self, ctx: RunContext[AgentDepsT]) -> None:
        """Resolve the scopes; not in `for_run`, which is called too for a memory that the run's own replaces."""
        if self._run is None:
            self._run = self._attachment.start(self._context(ctx))

    async def before_node_run(self, ctx: RunContext[AgentDepsT], *, node: Any) -> Any:
        """See whether the run goes on after a pause: the first node alone knows."""
        if isinstance(node, UserPromptNode) and node.deferred_tool_results is not None and not self._is_lent:
            await self._resume(runs.last_response(ctx.messages), node.deferred_tool_results)
        return node

    async def prepare_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        text = runs.last_input(ctx)
        request = runs.without_tools(request_context, {tool.name for tool in self._approved})
        if block := await self._bound.system_part(text):
            return runs.with_instructions(request, block)
        if block := await self._bound.user_part(text):
            return replace(request, messages=runs.with_user_part(request.messages, block))
        return request

    async def after_run(self, ctx: RunContext[AgentDepsT], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        if isinstance(result.output, DeferredToolRequests):
            snapshot = self._bound.run.snapshot()
            await tolerated(self._pauses.keep_pause(result.conversation_id, result.run_id, snapshot))
        if self._is_lent:
            return result
        if self._paused_run is not None:
            await tolerated(self._pauses.drop_pause(self._paused_run))
        await self._bound.record(runs.turns_of(ctx.prompt, result))
        return result

    async def _resume(self, paused: ModelResponse | None, results: DeferredToolResults) -> None:
        """Take up what the paused run had recalled. Its tools are gone, but for those whose calls were waiting."""
        fresh, self._paused_run = self._bound, paused.run_id if paused else None
        kept = await tolerated(self._pauses.find_pause(self._paused_run)) if self._paused_run else None
        self._run = self._attachment.resume(fresh.context, kept or fresh.run.snapshot())
        waiting = runs.waiting_tools(paused, results)
        self._approved = [tool for tool in fresh.run.tools if tool.name in waiting]

    @property
    def _bound(self) -> AttachedRun:
        if self._run is None:
            raise MemoryInvalidError("this AgentMemory is not that of a run; AgentMemory.of(ctx) is")
        return self._run
