"""Memory for agents of the Microsoft Agent Framework, as a context provider."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vectormem.adapters.arguments import arguments_model
from vectormem.adapters.attachment import AttachedRun, Attachment, Chat, Placement, Tools, answer
from vectormem.adapters.missing import missing_extra
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool

try:
    from agent_framework import AgentSession, ContextProvider, FunctionTool, Message, SessionContext
except ImportError as error:
    raise missing_extra("agent-framework", error) from error

ContextOf = Callable[[AgentSession, SessionContext], MemoryContext]


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
        placement: Placement = "system",
        chat: Chat = None,
        tools: Tools = (),
        source_id: str = "vectormem",
    ) -> None:
        super().__init__(source_id)
        self._attachment = Attachment(slots, placement=placement, chat=chat, tools=tools)
        self._context = context

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
        run = context.metadata.pop(self.source_id, None)
        if isinstance(run, AttachedRun):
            await run.record(_turns(context))


def _function_tool(tool: MemoryTool) -> FunctionTool:
    async def call(**arguments: Any) -> str:
        return (await answer(tool, arguments)).text

    return FunctionTool(name=tool.name, description=tool.description, func=call, input_model=arguments_model(tool))


def _turns(context: SessionContext) -> Iterator[tuple[str, str]]:
    answered = context.response.messages if context.response else []
    for message in [*context.input_messages, *answered]:
        if message.role in ("user", "assistant"):
            yield message.role, message.text
