"""Memory inside pydantic-ai: `AgentMemory` is a capability of an agent (extra `pydantic-ai`)."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

from vectormem.adapters.attachment import AttachedRun, Attachment, Options, text_of
from vectormem.adapters.missing import missing_extra
from vectormem.adapters.pauses import Pauses, TolerantPauses
from vectormem.adapters.pydantic_ai_tools import pydantic_ai_tool
from vectormem.errors import MemoryInvalidError
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext

try:
    import pydantic_ai as ai
    from pydantic_ai import AgentRunResult, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import InstructionPart, ModelMessage, ModelResponse, UserPromptPart
    from pydantic_ai.models import ModelRequestContext as Request
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import DynamicToolset
except ImportError as error:
    raise missing_extra("pydantic-ai", error) from error

_RETRIES = 1_000  # bad JSON is answered, not counted: the run's own request limit ends a model that goes round


def run_context(ctx: RunContext[Any]) -> MemoryContext:
    """Return what memory knows of a run: its conversation is the session, its `deps` are the principal."""
    return MemoryContext(session_id=ctx.conversation_id, metadata=ctx.metadata or {}, principal=ctx.deps)


class AgentMemory(AbstractCapability[AgentDepsT]):
    """Gives an agent its memory: `Agent(..., capabilities=[AgentMemory(slots)])`.

    What a run recalls is in each of its requests and in no stored history; it waits in `pauses`, by default in this
    object, while the run does for an approval. `context` says whose run it is; `placement`, `chat` and `tools` are
    those of `Options`. A run fails with MemoryInvalidError, before its first request, where a scope fails or two
    slots have one name. An agent takes one AgentMemory.
    """

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        *,
        context: Callable[[RunContext[Any]], MemoryContext] = run_context,
        pauses: Pauses | None = None,
        id: str = "vectormem",
        **options: Unpack[Options],
    ) -> None:
        self.id = id
        self._attachment = Attachment(slots, **options)
        self._context = context
        self._pauses = TolerantPauses(pauses)
        self._run: AttachedRun | None = None
        self._toolset: ai.FunctionToolset[AgentDepsT] | None = None
        self._is_lent = False
        self._paused_run: str | None = None

    @classmethod
    def of(cls, ctx: RunContext[Any]) -> Self:
        """Return the memory of a run, for the run of a hand-off target too; MemoryInvalidError where it has none."""
        for capability in ctx.capabilities.values():
            if isinstance(capability, cls) and capability._run is not None:
                return capability
        raise MemoryInvalidError("this run has no memory: its agent has no AgentMemory among its capabilities")

    def under(self, ctx: RunContext[Any]) -> Self:
        """Return this memory with the scope keys of the run that goes on, for the run of a sub-agent."""
        context, sub_agent = AgentMemory.of(ctx).run.context, copy.copy(self)
        sub_agent._context = lambda _: context
        return sub_agent

    @property
    def run(self) -> AttachedRun:
        """The run that this is the memory of, as `AgentMemory.of` finds it: whose it is, and what it recalled."""
        if self._run is None:
            raise MemoryInvalidError("this AgentMemory is not that of a run; AgentMemory.of(ctx) is")
        return self._run

    def get_toolset(self) -> DynamicToolset[AgentDepsT]:
        return DynamicToolset(lambda _: self._toolset, id=self.id)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Self:
        bound = copy.copy(self)
        bound._is_lent = self._run is not None
        return bound

    async def before_run(self, ctx: RunContext[AgentDepsT]) -> None:
        """Resolve the scopes; not in `for_run`, which is called too for a memory that the run's own replaces."""
        if self._run is None:
            self._bind(self._attachment.start(self._context(ctx)))

    async def before_node_run(self, ctx: RunContext[AgentDepsT], *, node: Any) -> Any:
        """Take up what a paused run had recalled: the first node alone knows that it goes on."""
        if isinstance(node, ai.UserPromptNode) and node.deferred_tool_results is not None and not self._is_lent:
            answers = (message for message in reversed(ctx.messages) if isinstance(message, ModelResponse))
            paused, approvals = next(answers, ModelResponse([])), node.deferred_tool_results.approvals
            approved = {call.tool_name for call in paused.tool_calls if call.tool_call_id in approvals}
            self._paused_run = paused.run_id
            snapshot = await self._pauses.find_pause(paused.run_id)
            self._bind(self._attachment.resume(self.run.context, snapshot, approved=approved))
        return node

    async def prepare_model_request(self, ctx: RunContext[AgentDepsT], request_context: Request) -> Request:
        messages, parameters = list[Any](request_context.messages), request_context.model_request_parameters
        instructions = list(parameters.instruction_parts or ())
        at, place, before = _last_prompt(messages)
        said = before if ctx.prompt is None else text_of(ctx.prompt)
        if block := await self.run.system_part(said):
            instructions.append(InstructionPart(block, dynamic=True))
        if block := await self.run.user_part(said):
            parts = [*messages[at].parts[:place], UserPromptPart(block), *messages[at].parts[place:]]
            messages[at] = replace(messages[at], parts=parts)
        tools = [tool for tool in parameters.function_tools if tool.name not in self.run.approved]
        parameters = replace(parameters, instruction_parts=instructions, function_tools=tools)
        return replace(request_context, messages=messages, model_request_parameters=parameters)

    async def after_run(self, ctx: RunContext[AgentDepsT], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        is_said = not isinstance(result.output, ai.DeferredToolRequests | ai.BinaryContent)
        if isinstance(result.output, ai.DeferredToolRequests):
            await self._pauses.keep_pause(result.conversation_id, result.run_id, self.run.run.snapshot())
        if not self._is_lent:
            await self._pauses.drop_pause(self._paused_run)
            answer = result.output if is_said else result.response.text or ""
            await self.run.record([("user", text_of(ctx.prompt)), ("assistant", answer)])
        return result

    def _bind(self, run: AttachedRun) -> None:
        self._run = run
        tools = list(map(pydantic_ai_tool, run.callable))
        self._toolset = ai.FunctionToolset(tools, max_retries=_RETRIES, id=self.id)


def _last_prompt(messages: Sequence[ModelMessage]) -> tuple[int, int, str]:
    """Return the message, the place in it and the text of the user's last prompt; where there is none, the end."""
    for at, message in reversed(list(enumerate(messages))):
        for place, part in reversed(list(enumerate(message.parts))):
            if isinstance(part, UserPromptPart):
                return at, place, text_of(part.content)
    return len(messages) - 1, len(messages[-1].parts), ""
