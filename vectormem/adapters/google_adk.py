"""Memory for agents of Google's ADK, as a plugin of the runner; its memory service stands in `google_adk_service`."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Unpack

from vectormem.adapters.attachment import AttachedRun, Attachment, Options
from vectormem.adapters.google_adk_service import text_of
from vectormem.adapters.missing import missing_extra
from vectormem.errors import VectorMemError
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.sessions.session import Session
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai.types import Content, FunctionDeclaration, Part
except ImportError as error:
    raise missing_extra("google-adk", error) from error


def user_context(session: Session) -> MemoryContext:
    """Return whose run it is: the user id of the session is the principal, the app's name stands in the metadata."""
    return MemoryContext(session_id=session.id, principal=session.user_id, metadata={"app_name": session.app_name})


class SlotPlugin(BasePlugin):
    """Recalls slots at the start of each run of a runner, offers their tools, and records the turns in `chat`.

    The block is in every request of a run, in no event. A VectorMemError of any tool is told to the model.
    """

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        *,
        context: Callable[[Session], MemoryContext] = user_context,
        name: str = "vectormem",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name)
        self._attachment, self._context = Attachment(slots, **options), context
        self._runs: weakref.WeakValueDictionary[str, AttachedRun] = weakref.WeakValueDictionary()

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        run = self._attachment.start(self._context(invocation_context.session))
        self._runs[invocation_context.invocation_id] = run
        weakref.finalize(invocation_context, id, run)  # holds the run for as long, since not every run has an end

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        run = self._runs[callback_context.invocation_id]
        last_input = text_of(callback_context.user_content)
        if block := await run.system_part(last_input):
            llm_request.append_instructions([block])
        if block := await run.user_part(last_input):
            llm_request.contents.insert(_last_input(llm_request), Content(role="user", parts=[Part(text=block)]))
        llm_request.append_tools([_Tool(tool) for tool in run.tools])

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        return {"error": str(error)} if isinstance(error, VectorMemError) else None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        if run := self._runs.get(invocation_context.invocation_id):
            await run.record(_turns(invocation_context))


class _Tool(BaseTool):
    def __init__(self, tool: MemoryTool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool

    def _get_declaration(self) -> FunctionDeclaration:
        schema = self._tool.input_schema
        return FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any]:
        return await self._tool.call(args)


def _turns(invocation: InvocationContext) -> Iterator[tuple[str, str]]:
    for event in invocation.session.events:
        if event.invocation_id == invocation.invocation_id:
            yield "user" if event.author == "user" else "assistant", text_of(event.content)


def _last_input(request: LlmRequest) -> int:
    """Return where the user's last words stand; calls of tools and their results follow them."""
    spoken = (n for n, content in enumerate(request.contents) if content.role == "user" and text_of(content))
    return max(spoken, default=0)
