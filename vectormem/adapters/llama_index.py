"""Memory for agents of LlamaIndex, as a block of their `Memory`."""

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from pydantic import PrivateAttr

from vectormem.adapters.arguments import arguments_model
from vectormem.adapters.attachment import AttachedRun, Attachment, Options, answer
from vectormem.adapters.missing import missing_extra
from vectormem.slots.define import MemorySlot
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool

try:
    from llama_index.core.async_utils import asyncio_run
    from llama_index.core.llms import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput
except ImportError as error:
    raise missing_extra("llama-index", error) from error


class SlotMemoryBlock(BaseMemoryBlock[list[ChatMessage]]):
    """Recalls the slots for one conversation, once for each message of the user, and records its turns in `chat`.

    Give it to the `Memory` of the conversation, and its `tools` to the agent. The block is a message of its own
    in each request, in no stored history. A turn is recorded when it is answered, or when the next one begins.
    """

    accept_short_term_memory: bool = False
    _attachment: Attachment = PrivateAttr()
    _context: MemoryContext = PrivateAttr()
    _tools: list[AsyncBaseTool] = PrivateAttr()
    _run: AttachedRun | None = PrivateAttr(default=None)
    _turn: tuple[int, str] = PrivateAttr(default=(0, ""))

    def __init__(
        self,
        slots: Sequence[MemorySlot],
        *,
        context: MemoryContext,
        name: str = "vectormem",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name=name)
        self._attachment, self._context = Attachment(slots, **options), context
        self._tools = [_Tool(tool) for tool in self._attachment.start(context).tools]

    @property
    def tools(self) -> list[AsyncBaseTool]:
        return list(self._tools)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> list[ChatMessage]:
        history = messages or []
        answered = bool(history) and history[-1].role != MessageRole.USER
        spoken = [message.content or "" for message in history if message.role == MessageRole.USER]
        turn = (len([one for one in history if one.role == MessageRole.ASSISTANT]), spoken[-1] if spoken else "")
        run = self._run
        if run is None or (turn != self._turn and not answered):
            run = self._attachment.start(self._context)
        if self._run is not None and turn != self._turn:
            await self._run.record(_last_turn(history if answered else history[:-1]))
        self._run, self._turn = (None if answered else run), turn
        return await _messages(run, turn[1])

    async def _aput(self, messages: list[ChatMessage]) -> None:
        pass


class _Tool(AsyncBaseTool):
    def __init__(self, tool: MemoryTool) -> None:
        self._tool, self._metadata = tool, ToolMetadata(tool.description, tool.name, arguments_model(tool))

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def call(self, /, **arguments: Any) -> ToolOutput:  # type: ignore[override]
        return asyncio_run(self.acall(**arguments))  # type: ignore[no-any-return]

    async def acall(self, /, **arguments: Any) -> ToolOutput:  # type: ignore[override]
        given = await answer(self._tool, arguments)
        return ToolOutput(self._tool.name, given.text, raw_input=arguments, is_error=given.is_error)


async def _messages(run: AttachedRun, last_input: str) -> list[ChatMessage]:
    parts = {MessageRole.SYSTEM: await run.system_part(last_input), MessageRole.USER: await run.user_part(last_input)}
    return [ChatMessage(role=role, content=block) for role, block in parts.items() if block]


def _last_turn(history: Sequence[ChatMessage]) -> Iterator[tuple[str, str]]:
    start = max((n for n, message in enumerate(history) if message.role == MessageRole.USER), default=len(history))
    for message in history[start:]:
        if message.role in (MessageRole.USER, MessageRole.ASSISTANT):
            yield message.role.value, message.content or ""
