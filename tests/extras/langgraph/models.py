"""LangChain's fake chat model, with tools and a record of what it was asked; and the ways to run an agent."""

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from vectormem import InMemoryMemory, blocking, define_memory, memory_key
from vectormem.adapters.langchain import MemoryMiddleware


class FakeModel(GenericFakeChatModel):
    """`requests` holds the messages of each request, `offered` the names of the tools in it."""

    requests: list[Any] = Field(default_factory=list)
    offered: list[list[str]] = Field(default_factory=list)
    schemas: dict[str, Any] = Field(default_factory=dict)

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        functions = [tool["function"] for tool in kwargs.get("tools", [])]
        self.requests.append(list(messages))
        self.offered.append([function["name"] for function in functions])
        self.schemas.update({function["name"]: function["parameters"] for function in functions})
        return super()._generate(messages, stop, run_manager)

    @property
    def prompts(self):
        """The system prompt of each request, None where it had none."""
        return [
            next((message.content for message in request if isinstance(message, SystemMessage)), None)
            for request in self.requests
        ]


def model(*turns):
    """Return a model that answers with these turns: texts, or calls as (tool, arguments)."""
    return FakeModel(messages=iter([turn_of(turn, number) for number, turn in enumerate(turns)]))


def turn_of(turn, number):
    if isinstance(turn, str):
        return AIMessage(turn)
    calls = turn if isinstance(turn, list) else [turn]
    return AIMessage(
        "", tool_calls=[{"name": name, "args": args, "id": f"{number}-{n}"} for n, (name, args) in enumerate(calls)]
    )


class CountingMemory(InMemoryMemory):
    """Counts how often it is listed."""

    lists = 0

    async def list(self, scope_key, **options):
        self.lists += 1
        return await super().list(scope_key, **options)


def slot(*texts, name="notes", scope="global", provider=None, key=None, **options):
    """Return a slot that holds these texts, under this provider key or the only one it has."""
    made = define_memory(name=name, scope=scope, provider=provider or CountingMemory(), **options)
    for text in texts:
        blocking(made.provider).add(key or memory_key(made), text)
    return made


def agent(model, *slots, options=None, **kwargs):
    """Return an agent with memory; `options` are those of the middleware."""
    middleware = [MemoryMiddleware(slots, **(options or {})), *kwargs.pop("middleware", ())]
    return create_agent(model, middleware=middleware, **kwargs)


def say(text="hi"):
    return {"messages": [{"role": "user", "content": text}]}


def thread(name="t1"):
    return {"configurable": {"thread_id": name}}


async def alast(stream):
    return [chunk async for chunk in stream][-1]


def last(stream):
    return list(stream)[-1]


RUNS = {
    "invoke": lambda agent, given, config=None, **kwargs: agent.invoke(given, config, **kwargs),
    "ainvoke": lambda agent, given, config=None, **kwargs: asyncio.run(agent.ainvoke(given, config, **kwargs)),
    "stream": lambda agent, given, config=None, **kwargs: last(
        agent.stream(given, config, stream_mode="values", **kwargs)
    ),
    "astream": lambda agent, given, config=None, **kwargs: asyncio.run(
        alast(agent.astream(given, config, stream_mode="values", **kwargs))
    ),
}


def texts_of(slot, key=None):
    return [item.text for item in blocking(slot.provider).list(key or memory_key(slot))]
