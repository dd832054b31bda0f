"""An agent of the Microsoft Agent Framework that remembers its user. Offline: the model is a script.

pip install 'vectormem[agent-framework]' && python examples/with_agent_framework.py
"""
# ruff: noqa: D103

import asyncio

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from vectormem import InMemoryMemory, MemoryContext, define_memory
from vectormem.adapters.agent_framework import SlotContextProvider

TURNS = [
    [Content.from_function_call("1", "remember_facts", arguments='{"text": "Ada is vegetarian"}')],
    [Content.from_text("I will remember that.")],
    [Content.from_text("A mushroom risotto?")],
]


class Script(FunctionInvocationLayer, BaseChatClient):
    """In place of a chat client such as OpenAIChatClient."""

    async def _inner_get_response(self, *, messages, stream, options, **kwargs):
        print("instructions:", options["instructions"].replace("\n", " | "))
        return ChatResponse(messages=[Message("assistant", TURNS.pop(0))])


def whose(session, context):
    """Tell vectormem whose run it is; a real program takes the user from a verified login."""
    return MemoryContext(session_id=session.session_id, principal=session.state["user"])


async def main():
    facts = define_memory(name="facts", scope=lambda context: context.principal, provider=InMemoryMemory())
    memory = SlotContextProvider([facts], context=whose)
    agent = Agent(client=Script(), instructions="You plan dinners.", context_providers=[memory])
    for text in ("I am vegetarian", "What shall I cook?"):
        session = agent.create_session()
        session.state["user"] = "user:ada"
        print("answer:", (await agent.run(text, session=session)).text)


if __name__ == "__main__":
    asyncio.run(main())
