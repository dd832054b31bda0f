"""A model of pydantic-ai that says what a script tells it to, and keeps what it was asked."""

import copy
import json
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel


@dataclass
class Request:
    """What the model was sent: messages, instructions, and the definitions of the tools."""

    messages: list[Any]
    instructions: str | None
    definitions: list[Any]

    @property
    def tools(self):
        return [tool.name for tool in self.definitions]

    @property
    def user_texts(self):
        return [part.content for part in self._parts(UserPromptPart)]

    @property
    def tool_returns(self):
        return [(part.tool_name, part.outcome, part.content) for part in self._parts(ToolReturnPart)]

    def _parts(self, kind):
        requests = [message for message in self.messages if isinstance(message, ModelRequest)]
        return [part for request in requests for part in request.parts if isinstance(part, kind)]


def call(name, /, **args):
    """Return a turn that calls one tool."""
    return [(name, args)]


class Script(FunctionModel):
    """Answers with its turns in order: a text, or a list of (tool, arguments); arguments may be JSON text."""

    def __init__(self, *turns):
        self.turns = list(turns)
        self.requests = []
        super().__init__(self._whole, stream_function=self._streamed)

    def _whole(self, messages, info):
        turn = self._next(messages, info)
        if isinstance(turn, str):
            return ModelResponse([TextPart(turn)])
        return ModelResponse([ToolCallPart(name, args) for name, args in turn])

    async def _streamed(self, messages, info):
        turn = self._next(messages, info)
        if isinstance(turn, str):
            for character in turn:
                yield character
            return
        for position, (name, args) in enumerate(turn):
            yield {position: DeltaToolCall(name, args if isinstance(args, str) else json.dumps(args))}

    def _next(self, messages, info):
        self.requests.append(Request(copy.deepcopy(messages), info.instructions, copy.deepcopy(info.function_tools)))
        return self.turns[len(self.requests) - 1]
