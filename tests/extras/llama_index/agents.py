"""Agents of LlamaIndex with the framework's own mock of a model, which says what a script says."""

import asyncio
import json

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

from tests.extras.memories import INSTRUCTIONS


class Script:
    """A turn is a text, or `(tool name, arguments)`; `requests` are what the model was asked."""

    def __init__(self, *turns):
        self.turns = list(turns)
        self.requests = []
        self.llm = MockFunctionCallingLLM(response_generator=self._respond, is_chat_model=True)

    def _respond(self, messages, **kwargs):
        self.requests.append(Request(messages, kwargs.get("tools") or []))
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            message = ChatMessage(role="assistant", content=turn)
        else:
            call = ToolCallBlock(tool_call_id=f"call-{len(self.requests)}", tool_name=turn[0], tool_kwargs=turn[1])
            message = ChatMessage(role="assistant", blocks=[call])
        return message


class Request:
    def __init__(self, messages, tools):
        said = [(message.role.value, message.content or "") for message in messages]
        self.system = [text for role, text in said if role == "system"]
        self.messages = [one for one in said if one[0] in ("user", "assistant") and one[1]]
        self.results = [message.content for message in messages if message.role == MessageRole.TOOL]
        self.tools = {tool.metadata.name: tool.metadata.get_parameters_dict() for tool in tools}


class Conversation:
    """An agent and its memory."""

    def __init__(self, script, block, *, session_id="s1", **options):
        self.memory = Memory.from_defaults(session_id=session_id, memory_blocks=[block], **options)
        self.agent = FunctionAgent(llm=script.llm, tools=block.tools, system_prompt=INSTRUCTIONS, streaming=False)

    async def asend(self, text):
        return str(await self.agent.run(text, memory=self.memory))

    def send(self, *texts):
        """Send messages one after the other; return the answers."""

        async def send_all():
            return [await self.asend(text) for text in texts]

        return asyncio.run(send_all())

    def stored(self):
        return json.dumps([message.model_dump(mode="json") for message in self.memory.get_all()])
