"""A model that says what a script tells it to, and keeps what it was asked."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from vectormem.errors import MemoryInvalidError
from vectormem.slots.tools import MemoryTool

Message: TypeAlias = dict[str, Any]


class ToolCall(BaseModel):
    """A tool that the model wants to have called. `args` are an object, or the JSON text of one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    args: dict[str, Any] | str = {}


class Turn(BaseModel):
    """What the model says at once."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


class ModelRequest(dict[str, Any]):
    """A recorded request, `{"messages": [...], "tools": [...]}`; nobody changes it afterwards."""

    @property
    def messages(self) -> list[Message]:
        """The messages, each with a role and a content."""
        found: list[Message] = self["messages"]
        return found

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The offered tools, each with name, description and input_schema."""
        found: list[dict[str, Any]] = self["tools"]
        return found

    @property
    def system(self) -> str | None:
        """The text of the system message; None where there is none."""
        return next((message["content"] for message in self.messages if message["role"] == "system"), None)


class ScriptedModel:
    """Answers with its turns, one a request, in order; `calls` holds the requests.

    A turn is a text or `{"text": ..., "tool_calls": [{"name": ..., "args": {...}}]}`. Raises
    MemoryInvalidError for anything else, and AssertionError where it is asked once too often.
    """

    def __init__(self, turns: Sequence[str | Mapping[str, Any]]) -> None:
        self._turns = [_turn(turn) for turn in turns]
        self.calls: list[ModelRequest] = []

    async def respond(self, messages: Sequence[Message], tools: Sequence[MemoryTool] = ()) -> Turn:
        """Record the request and return the next turn."""
        offered = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in tools
        ]
        self.calls.append(ModelRequest(copy.deepcopy({"messages": list(messages), "tools": offered})))
        if len(self.calls) > len(self._turns):
            raise AssertionError(
                f"the script of ScriptedModel has {len(self._turns)} turns, and this is request {len(self.calls)}; "
                "its last message is " + repr(messages[-1] if messages else None)
            )
        return self._turns[len(self.calls) - 1]


def _turn(turn: str | Mapping[str, Any]) -> Turn:
    try:
        return Turn(text=turn) if isinstance(turn, str) else Turn.model_validate(turn)
    except ValidationError as error:
        raise MemoryInvalidError(f"a turn is a text or has text and tool_calls, not {turn!r}: {error}") from error
