"""The ends of model calls and runs in the OpenAI Agents SDK, as memory has to know of them."""

from typing import Any, Self

from pydantic_core import to_json

from vectormem.adapters.missing import missing_extra
from vectormem.adapters.openai_runs import end, live, may_pause, starts
from vectormem.errors import MemoryInvalidError

try:
    from agents import Agent, AgentHookContext, AgentHooks, ModelResponse, RunContextWrapper, TResponseInputItem
except ImportError as error:
    raise missing_extra("openai-agents", error) from error

_NO_CALLS = ("message", "reasoning")


class MemoryHooks(AgentHooks[Any]):
    """The hooks of an agent with memory; all events reach the hooks that it had before."""

    def __init__(self, inner: AgentHooks[Any]) -> None:
        self._inner = inner
        for event in {name for name in dir(AgentHooks) if name.startswith("on_")} - vars(MemoryHooks).keys():
            setattr(self, event, getattr(inner, event))

    @classmethod
    def around(cls, hooks: AgentHooks[Any] | None) -> Self:
        """Return hooks of memory around others; those around which they are already stay as they are."""
        return hooks if isinstance(hooks, cls) else cls(hooks or AgentHooks())

    async def on_start(self, context: AgentHookContext[Any], agent: Agent[Any]) -> None:
        """Tell a run that starts from one that is resumed."""
        starts(context)
        await self._inner.on_start(context, agent)

    async def on_llm_start(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[TResponseInputItem],
    ) -> None:
        """Refuse to go on without a block that should be in the input."""
        run = live(context)
        if run is not None and run.attached.placement == "user" and not run.block_is_placed:
            raise MemoryInvalidError(
                'placement="user" needs the run to have RunConfig(call_model_input_filter=insert_memory)'
            )
        await self._inner.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse) -> None:
        """Keep what the run recalled, since its tool calls may pause it."""
        if any(item.type not in _NO_CALLS for item in response.output):
            may_pause(context)
        await self._inner.on_llm_end(context, agent, response)

    async def on_end(self, context: AgentHookContext[Any], agent: Agent[Any], output: Any) -> None:
        """Forget the run, and record what was said in it."""
        run = end(context)
        if run is not None:
            text = output if isinstance(output, str) else to_json(output, fallback=str).decode()
            await run.attached.record([*(("user", said) for said in run.said), ("assistant", text)])
        await self._inner.on_end(context, agent, output)
