"""Memory inside the OpenAI Agents SDK: an agent that recalls at the start of a run and has memory tools."""

import copy
import functools
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from typing import Any, Unpack

from vectormem.adapters.attachment import AttachedMemory, Attachment, ContextOf, Options, answer, context_in
from vectormem.adapters.hooks import told_before
from vectormem.adapters.live_runs import LiveRun, LiveRuns
from vectormem.adapters.missing import missing_extra
from vectormem.adapters.openai_session import VectormemSession
from vectormem.adapters.run_sessions import session_of
from vectormem.errors import MemoryInvalidError
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool

try:
    from agents import Agent, AgentHooks, FunctionTool, Handoff, RunContextWrapper, Tool
    from agents.run import CallModelData, ModelInputData
except ImportError as error:
    raise missing_extra("openai-agents", error) from error

__all__ = ["MemoryAgent", "VectormemSession", "insert_memory", "memory_context", "with_memory"]

_runs = LiveRuns()
_current: ContextVar[Callable[[], LiveRun | None]] = ContextVar("vectormem_run", default=lambda: None)


def memory_context(run: RunContextWrapper[Any]) -> MemoryContext:
    """Read a run's context as `context_in` does; where it has no session id, its `VectormemSession`'s counts."""
    return context_in(run.context, session_of(run))


class _Hooks(AgentHooks[Any]):
    """What memory is told of a run."""

    async def on_start(self, context: Any, agent: Any) -> None:
        _runs.note_start(context._tool_invocations)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        _runs.drop(context)
        if (run := _runs.get(context)) and run.lacks_block:
            raise MemoryInvalidError('placement="user" needs RunConfig(call_model_input_filter=insert_memory) in a run')

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        if {item.type for item in response.output} - {"message", "reasoning"}:
            _runs.keep(context)

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        # The hook is shown a context of its own, in which this very list tells the run.
        if run := _runs.end(lambda shown: shown.turn_input is context.turn_input):
            await run.record(output)


@dataclass
class MemoryAgent(Agent[Any]):
    """An agent with memory, as `with_memory` makes it. Its clones have the same memory."""

    attached: AttachedMemory = field(default=AttachedMemory(Attachment(()), memory_context), compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]
        if not isinstance(self.hooks, _Hooks):
            self.hooks: Any = told_before(_Hooks(), self.hooks or AgentHooks())

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """Return the agent's tools and those of its memory in this run."""
        tools, run = await super().get_all_tools(run_context), self._run(run_context)
        _current.set(weakref.ref(run) if run else lambda: None)
        own = run.attached.callable_beside(tool.name for tool in tools) if run else ()
        return [*tools, *map(_function_tool, own)]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        """Return the agent's instructions, with the memory blocks at their end."""
        instructions, run = await super().get_system_prompt(run_context), self._run(run_context)
        return (await run.system_prompt(instructions) or None) if run else instructions

    def _run(self, context: RunContextWrapper[Any]) -> LiveRun | None:
        calls = context._tool_invocations  # the SDK has no public name for what a run has called, also before a pause
        return _runs.of(context, self.attached, messages=context.turn_input, calls=calls)


def with_memory(
    agent: Agent[Any], slots: Sequence[MemorySlot], *, context: ContextOf = memory_context, **options: Unpack[Options]
) -> Agent[Any]:
    """Return a clone of the agent that has memory, and so have clones of all agents that it hands off to.

    These share the run's memory: its blocks and tools under the same scope keys; memory of their own is not used.
    `context` finds the `MemoryContext` of a run. `placement="user"` puts the block into the input, before the user's
    message, and needs `RunConfig(call_model_input_filter=insert_memory)`; the other options are as in `Options`.
    Raises MemoryInvalidError for two tools of one name, and for an agent that has memory already.
    """
    if not isinstance(agent, Agent) or isinstance(agent, MemoryAgent):
        raise MemoryInvalidError(f"with_memory takes an Agent without memory, and all its slots at once; not {agent!r}")
    memory = AttachedMemory(Attachment(slots, **options), context)
    memory.attachment.check_beside(tool.name for tool in agent.tools)
    return _attached(agent, memory, {})


async def insert_memory(data: CallModelData[Any]) -> ModelInputData:
    """Put the block of `placement="user"` before the user's message; a `call_model_input_filter`."""
    run = _current.get()() if isinstance(data.agent, MemoryAgent) else None
    return replace(data.model_data, input=await run.messages(data.model_data.input)) if run else data.model_data


def _attached(agent: Any, memory: AttachedMemory, done: dict[int, tuple[Any, MemoryAgent]]) -> MemoryAgent:
    """Give one memory to an agent and to all that it hands off to, each once, also in a circle."""
    if id(agent) not in done:
        given = {one.name: getattr(agent, one.name) for one in fields(agent) if one.init}
        attached = _class_with_memory(agent.__class__)(**{**given, "attached": memory, "handoffs": []})
        done[id(agent)] = agent, attached  # the agent too, so that its id stays its own
        attached.handoffs = [_target(one, memory, done) for one in agent.handoffs]
    return done[id(agent)][1]


def _target(target: Any, memory: AttachedMemory, done: dict[int, tuple[Any, MemoryAgent]]) -> Any:
    if not isinstance(target, Handoff):
        return _attached(target, memory, done)

    async def invoke(context: RunContextWrapper[Any], arguments: str) -> MemoryAgent:
        made = await target.on_invoke_handoff(context, arguments)
        return _attached(made, memory, dict(done))  # what was only made for this hand-off is not kept

    attached = replace(target, on_invoke_handoff=invoke)
    if target._agent_ref and isinstance(known := target._agent_ref(), Agent):
        attached._agent_ref = weakref.ref(_attached(known, memory, done))  # by it, a run state finds the agents
    return attached


@functools.cache
def _class_with_memory(kind: Any) -> type[MemoryAgent]:
    if issubclass(kind, MemoryAgent):
        return kind
    made = type(kind.__name__, (MemoryAgent, kind), {"__module__": kind.__module__})
    return MemoryAgent if kind is Agent else dataclass(made)


def _function_tool(tool: MemoryTool) -> FunctionTool:
    async def invoke(_: RunContextWrapper[Any], arguments: str) -> str:
        result = await answer(tool, arguments or "{}")
        return f"Error: {result.text}" if result.is_error else result.text

    return FunctionTool(tool.name, tool.description, copy.deepcopy(tool.input_schema), invoke, strict_json_schema=False)
