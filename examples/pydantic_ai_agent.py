"""An agent of pydantic-ai with memory: two conversations of one user, kept in one file.

python examples/pydantic_ai_agent.py                          # offline, with a scripted model
python examples/pydantic_ai_agent.py --model openai:gpt-5     # with a real one
"""

import argparse
import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from embedders import HashEmbedder
from vectormem import ChatStorage, SqliteStore, SqliteVectorMemory, define_memory
from vectormem.adapters.pydantic_ai import AgentMemory
from vectormem.adapters.pydantic_ai_conversations import SqliteConversations


@dataclass
class Deps:
    """What the program knows of the caller; memory gets it as `context.principal`."""

    user_id: str


def make_agent(store: SqliteStore, model: Model | str) -> Agent[Deps, str]:
    """Return an agent that remembers facts of each user and finds earlier conversations."""
    embedder = HashEmbedder()  # takes words for meaning; use a real embedder for a real agent
    facts = define_memory(
        name="facts",
        description="Lasting facts about the user.",
        scope=lambda context: f"user:{context.principal.user_id}",
        provider=SqliteVectorMemory(store, embedder=embedder),
        recall={"query": "last-input", "max_items": 5},
    )

    def chat_of(context):
        return ChatStorage(store, embedder=embedder, scope_key=f"user:{context.principal.user_id}")

    def tools_of(context):
        return [chat_of(context).create_memory_retrieval_tool(exclude_conversation_id=context.session_id)]

    memory = AgentMemory([facts], chat=chat_of, tools=tools_of)
    return Agent(model, deps_type=Deps, instructions="You are a friendly assistant.", capabilities=[memory])


async def main(model: Model | str, path: Path) -> None:
    """Have two conversations, each as a process of its own would."""
    for session, text in (("monday", "I am Sam, and I eat no meat."), ("friday", "What meat do I eat?")):
        async with SqliteStore(path) as store:
            agent = make_agent(store, model)
            conversations = SqliteConversations(store, scope_key="user:sam")
            conversation = await conversations.load(session) or Conversation(conversation_id=session)
            result = await agent.run(text, deps=Deps("sam"), conversation=conversation)
            await conversations.save(result)
            print(f"{session}\n  user: {text}\n  agent: {result.output}")


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer as a model might: remember what is told, answer from what was recalled."""
    if "<memory" in (info.instructions or ""):
        return ModelResponse([TextPart("None: you told me that you eat no meat.")])
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("remember_facts", {"text": "Sam eats no meat."})])
    return ModelResponse([TextPart("Nice to meet you, Sam. I will remember that.")])


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", help="a model of pydantic-ai; without it, a scripted one answers offline")
    options.add_argument("--db", type=Path, help="the database file; without it, a temporary one")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(chosen.model or FunctionModel(scripted), chosen.db or Path(folder) / "agent.db"))
