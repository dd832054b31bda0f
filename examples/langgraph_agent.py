"""An agent of LangChain with memory, a checkpointer and a store, all in one file.

python examples/langgraph_agent.py                                  # offline, with a scripted model
python examples/langgraph_agent.py --model openai:gpt-5             # with a real one
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.types import Command

from embedders import HashEmbedder
from vectormem import ChatStorage, MemoryContext, MemoryTool, SqliteStore, SqliteVectorMemory, define_memory
from vectormem.adapters.langchain import MemoryMiddleware
from vectormem.adapters.langgraph_saver import VectormemSaver
from vectormem.adapters.langgraph_store import VectormemStore

EMBEDDER = HashEmbedder()  # takes words for meaning; use a real embedder for a real agent


@dataclass
class Caller:
    """What the program knows of the caller: the runtime's context."""

    user_id: str


def user_of(context: MemoryContext) -> str:
    """Return the scope key of the caller."""
    return f"user:{context.metadata['user_id']}"


@tool
def book_table(restaurant: str, runtime: ToolRuntime[Caller]) -> str:
    """Book a table. A person has to approve it."""
    assert runtime.store is not None
    runtime.store.put((runtime.context.user_id, "bookings"), restaurant, {"restaurant": restaurant})
    return f"A table at {restaurant} is booked."


def make_agent(file: SqliteStore, model: BaseChatModel | str) -> Any:
    """Return an agent that remembers facts of each user, finds earlier chats, and asks before it books."""
    facts = define_memory(
        name="facts",
        description="Lasting facts about the user.",
        scope=user_of,
        provider=SqliteVectorMemory(file, embedder=EMBEDDER),
    )

    def chat_of(context: MemoryContext) -> ChatStorage:
        return ChatStorage(file, embedder=EMBEDDER, scope_key=user_of(context))

    def tools_of(context: MemoryContext) -> Sequence[MemoryTool]:
        return [chat_of(context).create_memory_retrieval_tool(exclude_conversation_id=context.session_id)]

    return create_agent(
        model,
        [book_table],
        system_prompt="You are a friendly assistant.",
        middleware=[
            MemoryMiddleware([facts], chat=chat_of, tools=tools_of),
            HumanInTheLoopMiddleware(interrupt_on={"book_table": True}),
        ],
        context_schema=Caller,
        checkpointer=VectormemSaver(file),
        store=VectormemStore(file, index={"embed": EMBEDDER, "dims": 256}),
    )


def main(model: BaseChatModel | str, path: Path) -> None:
    """Talk on two days, each as a process of its own would; on the second, wait for an approval."""
    for thread, text in (("monday", "I am Sam, and I eat no meat."), ("friday", "Book me a table for tonight.")):
        config = {"configurable": {"thread_id": thread}}
        with SqliteStore(path) as file:
            agent, caller = make_agent(file, model), Caller("sam")
            print("User:", text)
            result = agent.invoke({"messages": [{"role": "user", "content": text}]}, config, context=caller)
            if "__interrupt__" in result:
                print("Approved:", result["__interrupt__"][0].value["action_requests"][0]["args"])
                approval = Command(resume={"decisions": [{"type": "approve"}]})
                result = agent.invoke(approval, config, context=caller)
            print("Agent:", result["messages"][-1].text)
            bookings = agent.store.search(("sam", "bookings"), query="green leaf")
            print("Bookings:", [item.key for item in bookings])


class ScriptedModel(GenericFakeChatModel):
    """LangChain's fake model, which says the same whatever it is asked, with tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Take any tools."""
        return self


def scripted() -> ScriptedModel:
    """Return a model with the turns of this example."""
    calls = {
        "remember_facts": {"text": "Sam is vegetarian."},
        "book_table": {"restaurant": "The Green Leaf"},
    }
    remember, book = (
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": name}]) for name, args in calls.items()
    )
    turns = [remember, AIMessage("I will remember that."), book, AIMessage("Your table is booked; enjoy!")]
    return ScriptedModel(messages=iter(turns))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a model of LangChain, such as openai:gpt-5")
    with tempfile.TemporaryDirectory() as folder:
        main(parser.parse_args().model or scripted(), Path(folder) / "agent.db")
