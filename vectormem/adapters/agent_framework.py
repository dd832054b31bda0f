"""Memory for agents of the Microsoft Agent Framework, as a context provider."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, Unpack

from vectormem.adapters.arguments import arguments_model
from vectormem.adapters.attachment import AttachedRun, Attachment, Options, answer
from vectormem.adapters.missing import missing_extra
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool

try:
    from agent_framework import AgentSession, ContextProvider, FunctionTool, Message, SessionContext
except ImportError as error:
    raise missing_extra("agent-framework", error) from error

ContextOf: TypeAlias = Callable[[AgentSession, SessionContext], MemoryContext]


def session_context(session: AgentSession, context: SessionContext) -> MemoryContext:
    """Return what is known of a run by itself: the id of its session, and nothing of its user."""
    return MemoryContext(session_id=session.session_id)


class SlotContextProvider(ContextProvider):
    """Recalls the slots at the start of each run, offers their tools, and records the turns in `chat`.

    `context` tells whose run it is. The block is in every request of a run and in no session. Raises
    MemoryInvalidError for another placement; a run does for a scope that fails.
    """

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        *,
        context: ContextOf = session_context,
        source_id: str = "vectormem",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(source_id)
        self._attachment, self._context = Attachment(slots, **options), context

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add the block and the tools to a run."""
        run = self._attachment.start(self._context(session, context))
        context.metadata[self.source_id] = run
        last_input = "\n".join(message.text for message in context.input_messages if message.role == "user")
        if block := await run.system_part(last_input):
            leads = context.instructions or getattr(agent, "default_options", {}).get("instructions")
            context.extend_instructions(self.source_id, "\n" + block if leads else block)
        if block := await run.user_part(last_input):
            context.extend_messages(self.source_id, [Message("user", [block])])
        context.extend_tools(self.source_id, [_function_tool(tool) for tool in run.tools])

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Record the turns of a run."""
        run: AttachedRun | None = context.metadata.pop(self.source_id, None)
        messages = [*context.input_messages, *(context.response.messages if context.response else ())]
        if run is not None:
            await run.record((one.role, one.text) for one in messages if one.role in ("user", "assistant"))


def _function_tool(tool: MemoryTool) -> FunctionTool:
    async def call(**arguments: Any) -> str:
        return (await answer(tool, arguments)).text

    return FunctionTool(name=tool.name, description=tool.description, func=call, input_model=arguments_model(tool))
