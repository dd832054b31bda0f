"""Agents of scripted models with memory: how the tests make them, run them and look at what was asked."""

import asyncio

from vectormem import InMemoryMemory, MemoryTool, blocking, define_memory, memory_key
from vectormem.testing import ScriptedAgent, ScriptedModel

BLOCK = '<memory name="notes">\n- The user likes tea.\n</memory>'


def define(provider=None, name="notes", **options):
    options = {"scope": "global", "provider": provider or InMemoryMemory(), **options}
    return define_memory(name=name, **options)


def holding(text="The user likes tea.", **options):
    slot = define(**options)
    blocking(slot.provider).add(memory_key(slot), text)
    return slot


def agent_with(*slots, turns=("ok",), **options):
    return ScriptedAgent(ScriptedModel(turns), memory=slots, **options)


def send(agent, text="hi", **context):
    return asyncio.run(agent.send(text, **context))


def calling(name, **args):
    return {"tool_calls": [{"name": name, "args": args}]}


def tool(name, handler):
    return MemoryTool(name=name, description=name, input_schema={"type": "object"}, annotations={}, handler=handler)


def offered(call):
    return [one["name"] for one in call.tools]


def systems(agent):
    return [call.system for call in agent.model.calls]


def tool_messages(result):
    return [message for message in result.messages if message["role"] == "tool"]
