"""A conversation on the command line: each message a run of the agent, shown while it answers."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from typing import Any

from pydantic_ai import Agent, AgentRunError, RunContext, UserError
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)

from vectormem.adapters.pydantic_ai import AgentMemory
from vectormem.adapters.pydantic_ai_conversations import SqliteConversations
from vectormem.cli.output import note, shown
from vectormem.errors import VectorMemError

_ID = re.compile(r" \(id: [^()]*\)$")


class Talk:
    """The conversation of a session, loaded before each message and saved after it.

    `turns` tells what happened, `error` what went wrong last.
    """

    def __init__(
        self, agent: Agent[str | None, str], conversations: SqliteConversations, session: str, user: str | None
    ) -> None:
        self.turns: list[dict[str, Any]] = []
        self.error: str | None = None
        self._agent = agent
        self._conversations = conversations
        self._session = session
        self._user = user
        self._prints = True

    def run(self, messages: Iterable[str], *, goes_on_after_errors: bool, prints: bool) -> None:
        """Answer the messages that are not blank."""
        self._prints = prints
        with asyncio.Runner() as runner:  # one event loop for all messages: the model keeps its connections
            for text in filter(str.strip, messages):
                try:
                    runner.run(self._answer(text))
                except (AgentRunError, UserError, VectorMemError) as error:
                    self.error = str(error)
                    note(f"error: {error}")
                    if not goes_on_after_errors:
                        break

    async def _answer(self, text: str) -> None:
        turn: dict[str, Any] = {"message": text, "recalled": [], "remembered": [], "answer": ""}
        watched = _Watched(turn, prints=self._prints)
        stored = await self._conversations.load(self._session)
        result = await self._agent.run(
            text,
            conversation=stored or Conversation(conversation_id=self._session),
            deps=self._user,
            metadata={"user": self._user},
            event_stream_handler=watched.follow,
        )
        watched.end()
        await self._conversations.save(result)
        self.turns.append({**turn, "answer": result.output})


class _Watched:
    """Shows what happens in a run, and notes it in its turn."""

    def __init__(self, turn: dict[str, Any], *, prints: bool) -> None:
        self._turn = turn
        self._prints = prints
        self._is_amid_line = False
        self._calls: dict[str, Mapping[str, Any]] = {}

    async def follow(self, ctx: RunContext[str | None], events: AsyncIterable[AgentStreamEvent]) -> None:
        if not self._calls and not self._turn["recalled"]:
            for text in _texts(AgentMemory.of(ctx).run.recalled):
                self._tell("recalled", text)
        async for event in events:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    self._say(text)
                case FunctionToolCallEvent(part=call):
                    self._calls[call.tool_call_id] = call.args_as_dict(raise_if_invalid=False)
                case FunctionToolResultEvent(part=answer) if answer.outcome == "success":
                    self._told(self._calls.get(answer.tool_call_id, {}), answer.content)

    def end(self) -> None:
        """Let what comes next begin on a line of its own."""
        if self._is_amid_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_amid_line = False

    def _say(self, text: str) -> None:
        if self._prints and text:
            sys.stdout.write("\n".join(map(shown, text.split("\n"))))
            sys.stdout.flush()
            self._is_amid_line = not text.endswith("\n")

    def _told(self, arguments: Mapping[str, Any], answer: Any) -> None:
        if not isinstance(answer, Mapping):
            return
        if answer.get("remembered"):
            self._tell("remembered", arguments.get("text") or json.dumps(arguments, ensure_ascii=False))
        if answer.get("forgotten"):
            self._tell("forgotten", answer["forgotten"])
        for found in [*answer.get("items", ()), *answer.get("messages", ())]:
            self._tell("recalled", found["text"])

    def _tell(self, what: str, text: str) -> None:
        self.end()
        self._turn.setdefault(what, []).append(text)
        note(f"{what}: {text}")


def _texts(blocks: Mapping[str, str]) -> Iterator[str]:
    """Yield the items of memory blocks without their ids."""
    for block in blocks.values():
        yield from (_ID.sub("", line.removeprefix("- ")) for line in block.split("\n")[1:-1])
