"""A chat client as the framework wants its own: it says what a script says, and keeps its requests."""

import json
from collections.abc import AsyncIterator

from agent_framework import (
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)


class ScriptedClient(FunctionInvocationLayer, BaseChatClient):
    """A turn is a text, or `(tool name, arguments)`."""

    def __init__(self, *turns):
        super().__init__()
        self.turns = list(turns)
        self.requests = []

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        self.requests.append(Request(list(messages), dict(options)))
        contents = self._say(self.turns.pop(0))
        if stream:
            return ResponseStream(self._updates(contents), finalizer=ChatResponse.from_updates)
        return self._whole(contents)

    def _say(self, turn):
        if isinstance(turn, str):
            return [Content.from_text(turn)]
        name, arguments = turn
        return [Content.from_function_call(f"call-{len(self.requests)}", name, arguments=json.dumps(arguments))]

    async def _whole(self, contents):
        return ChatResponse(messages=[Message("assistant", contents)])

    async def _updates(self, contents) -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=contents)


class Request:
    def __init__(self, messages, options):
        self.instructions = options.get("instructions")
        self.tools = {tool.name: tool.parameters() for tool in options.get("tools") or []}
        self.messages = [(message.role, message.text) for message in messages]
        self.results = [
            str(content.result)
            for message in messages
            for content in message.contents
            if content.type == "function_result"
        ]
