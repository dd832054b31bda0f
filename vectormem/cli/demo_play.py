"""The two conversations of `demo`: real memory, with a scripted model in place of a real one."""

import asyncio
from pathlib import Path
from typing import Any

from embedders import Embedder
from vectormem.cli.item_view import item_document
from vectormem.providers.builtin import SqliteVectorMemory
from vectormem.slots.define import define_memory
from vectormem.testing import ScriptedAgent, ScriptedModel

_INSTRUCTIONS = "You are a friendly assistant."
_INTRODUCTION = "Hi, I'm Sam. I'm a vegetarian, I work in Oslo, and I play the cello."
_FACTS = ("Sam is vegetarian.", "Sam works in Oslo.", "Sam plays the cello.")
_REQUEST = "Suggest some vegetarian food for tonight."
_FIRST_ANSWER = "Nice to meet you, Sam! I will remember that."
_SECOND_ANSWER = "How about a mushroom risotto, Sam? It is vegetarian."


def play(path: Path, embedder: Embedder, key: str) -> dict[str, Any]:
    """Return what the model received and answered in both conversations, and what is remembered after them."""
    return asyncio.run(_play(path, embedder, key))


async def _play(path: Path, embedder: Embedder, key: str) -> dict[str, Any]:
    """Have both conversations, each with a connection of its own, as two processes would."""
    slot_name = key.partition("#")[0]
    remember = [{"name": f"remember_{slot_name}", "args": {"text": fact}} for fact in _FACTS]
    script: tuple[tuple[str, str, list[str | dict[str, Any]]], ...] = (
        ("monday", _INTRODUCTION, [{"tool_calls": remember}, _FIRST_ANSWER]),
        ("friday", _REQUEST, [_SECOND_ANSWER]),
    )
    conversations = []
    for session_id, text, turns in script:
        async with SqliteVectorMemory(path, embedder=embedder, max_items=None) as provider:
            agent = _agent(provider, key, ScriptedModel(turns))
            conversations.append(await _converse(agent, session_id, text))
            items = [item_document(item) for item in await provider.list(key)]
    return {"embedder": embedder.id, "conversations": conversations, "items": items}


def _agent(provider: SqliteVectorMemory, key: str, model: ScriptedModel) -> ScriptedAgent:
    slot_name, _, scope_key = key.partition("#")
    slot = define_memory(
        name=slot_name,
        scope=lambda context: scope_key,
        provider=provider,
        recall={"query": "last-input", "max_items": 3},
    )
    return ScriptedAgent(model, memory=[slot], instructions=_INSTRUCTIONS)


async def _converse(agent: ScriptedAgent, session_id: str, text: str) -> dict[str, Any]:
    result = await agent.send(text, session_id=session_id)
    received = agent.model.calls[0]
    return {
        "session_id": session_id,
        "system_prompt": received.system,
        "tools": received.tools,
        "messages": [message for message in result.messages if message["role"] != "system"],
        "answer": result.text,
    }
