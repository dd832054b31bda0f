"""A LlamaIndex agent that remembers its user. Offline: the model is the framework's own mock, with a script.

pip install 'vectormem[llama-index]' && python examples/with_llama_index.py
"""
# ruff: noqa: D103

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

from vectormem import InMemoryMemory, MemoryContext, define_memory
from vectormem.adapters.llama_index import SlotMemoryBlock

TURNS = [
    [ToolCallBlock(tool_call_id="1", tool_name="remember_facts", tool_kwargs={"text": "Ada is vegetarian"})],
    "I will remember that.",
    "A mushroom risotto?",
]


def respond(messages, **kwargs):
    print("memory:", [message.content for message in messages if (message.content or "").startswith("<memory")])
    return ChatMessage(role="assistant", content=TURNS.pop(0))


async def main():
    facts = define_memory(name="facts", scope=lambda context: context.principal, provider=InMemoryMemory())
    llm = MockFunctionCallingLLM(response_generator=respond)
    for session_id, text in (("monday", "I am vegetarian"), ("tuesday", "What shall I cook?")):
        block = SlotMemoryBlock([facts], context=MemoryContext(session_id=session_id, principal="user:ada"))
        memory = Memory.from_defaults(session_id=session_id, memory_blocks=[block])
        agent = FunctionAgent(llm=llm, tools=block.tools, system_prompt="You plan dinners.", streaming=False)
        print("answer:", await agent.run(text, memory=memory))


if __name__ == "__main__":
    asyncio.run(main())
