"""Memory inside the OpenAI Agents SDK: an agent that recalls at the start of a run and has memory tools."""

import dataclasses
import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from vectormem.adapters.attachment import Attachment, Chat, Placement, Tools
from vectormem.adapters.missing import missing_extra
from vectormem.adapters.openai_context import ContextOf, memory_context
from vectormem.adapters.openai_hooks import MemoryHooks
from vectormem.adapters.openai_runs import LiveRun, goes_on, run_of
from vectormem.adapters.openai_session import VectormemSession
from vectormem.adapters.openai_tools import as_function_tool, check_names
from vectormem.errors import MemoryInvalidError
from vectormem.slots.define import MemorySlot
from vectormem.slots.tools import slot_tools

try:
    from agents import Agent, Handoff, RunContextWrapper, Tool
    from agents.run import CallModelData, ModelInputData
except ImportError as error:
    raise missing_extra("openai-agents", error) from error

__all__ = ["MemoryAgent", "VectormemSession", "insert_memory", "memory_context", "with_memory"]

_current: ContextVar["weakref.ref[LiveRun] | None"] = ContextVar("vectormem_run", default=None)


@dataclasses.dataclass
class MemoryAgent(Agent[Any]):
    """An agent with memory, as `with_memory` makes it. Its clones have the same memory."""

    attachment: Attachment = dataclasses.field(default_factory=lambda: Attachment(()), compare=False, repr=False)
    attachment_context: ContextOf = dataclasses.field(default=memory_context, compare=False, repr=False)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """Return the agent's tools and those of its memory in this run."""
        tools = await super().get_all_tools(run_context)
        run = run_of(run_context, self.attachment, self.attachment_context)
        _current.set(weakref.ref(run) if run else None)
        if run is None:
            return tools
        if run.tools is None:
            run.tools = [as_function_tool(tool) for tool in run.attached.tools]
        check_names(run.tools, tools)
        return [*tools, *run.tools]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        """Return the agent's instructions, with the memory blocks at their end."""
        instructions = await super().get_system_prompt(run_context)
        run = run_of(run_context, self.attachment, self.attachment_context)
        if run is None:
            return instructions
        goes_on(run)
        return await run.attached.system_prompt(instructions, run.last_input) or None


def with_memory(
    agent: Agent[Any],
    slots: Sequence[MemorySlot],
    *,
    context: ContextOf = memory_context,
    placement: Placement = "system",
    chat: Chat = None,
    tools: Tools = (),
) -> Agent[Any]:
    """Return a clone of the agent that has memory, and so have clones of all agents that it hands off to.

    These share the run's memory: its blocks and tools under the same scope keys; memory of their own is not
    used. `context` finds the `MemoryContext` of a run. `placement="user"` puts the block into the input,
    before the user's message, and needs `RunConfig(call_model_input_filter=insert_memory)`. `chat` records
    the turns; `tools` are offered beside those of the slots. Raises MemoryInvalidError for two tools of one
    name, and for an agent that has memory already.
    """
    if not isinstance(agent, Agent) or isinstance(agent, MemoryAgent):
        raise MemoryInvalidError(f"with_memory takes an Agent without memory, and all its slots at once; not {agent!r}")
    memory = Attachment(slots, placement=placement, chat=chat, tools=tools)
    check_names([tool for slot in memory.slots for tool in slot_tools(slot, slot.name)], agent.tools)
    return _Attaching(memory, context).agent(agent)


async def insert_memory(data: CallModelData[Any]) -> ModelInputData:
    """Put the block of `placement="user"` before the user's message; a `call_model_input_filter`."""
    current = _current.get() if isinstance(data.agent, MemoryAgent) else None
    run = current() if current else None
    if run is None:
        return data.model_data
    run.block_is_placed = True
    items = list(data.model_data.input)
    if part := await run.attached.user_part(run.last_input):
        places = [place for place, item in enumerate(items) if item.get("role") == "user"]
        items.insert(places[-1] if places else 0, {"role": "user", "content": part})
    return ModelInputData(input=items, instructions=data.model_data.instructions)


class _Attaching:
    """Gives one memory to an agent and to all agents that it hands off to, each once, also in a circle."""

    def __init__(self, memory: Attachment, context_of: ContextOf) -> None:
        self._memory, self._context_of = memory, context_of
        self._done: dict[int, tuple[Agent[Any], MemoryAgent]] = {}  # the agent too, so that its id stays its own

    def agent(self, agent: Agent[Any]) -> MemoryAgent:
        if id(agent) not in self._done:
            given = {one.name: getattr(agent, one.name) for one in dataclasses.fields(agent) if one.init}
            given |= {"attachment": self._memory, "attachment_context": self._context_of, "handoffs": []}
            given |= {"hooks": MemoryHooks.around(agent.hooks)}
            attached = _class_with_memory(type(agent))(**given)
            self._done[id(agent)] = agent, attached
            attached.handoffs = [self._target(one) for one in agent.handoffs]
        return self._done[id(agent)][1]

    def _target(self, target: Agent[Any] | Handoff[Any, Any]) -> Agent[Any] | Handoff[Any, Any]:
        return self._handoff(target) if isinstance(target, Handoff) else self.agent(target)

    def _handoff(self, handoff: Handoff[Any, Any]) -> Handoff[Any, Any]:
        async def invoke(context: RunContextWrapper[Any], arguments: str) -> MemoryAgent:
            return self._known(await handoff.on_invoke_handoff(context, arguments))

        attached = dataclasses.replace(handoff, on_invoke_handoff=invoke)
        target = handoff._agent_ref() if handoff._agent_ref else None
        if isinstance(target, Agent):
            attached._agent_ref = weakref.ref(self.agent(target))  # by it, a run state finds the agents of a run
        return attached

    def _known(self, agent: Agent[Any]) -> MemoryAgent:
        """Return the agent with memory; one that was only made for this hand-off is not kept."""
        known = id(agent) in self._done
        return self._done[id(agent)][1] if known else _Attaching(self._memory, self._context_of).agent(agent)


def _class_with_memory(kind: type[Agent[Any]]) -> type[MemoryAgent]:
    if issubclass(kind, MemoryAgent):
        return kind
    if kind not in _classes:
        made = type(kind.__name__, (MemoryAgent, kind), {"__module__": kind.__module__})
        _classes[kind] = dataclasses.dataclass(made)
    return _classes[kind]


_classes: dict[type[Agent[Any]], type[MemoryAgent]] = {Agent: MemoryAgent}
