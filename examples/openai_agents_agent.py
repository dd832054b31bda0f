"""An agent of the OpenAI Agents SDK with memory and its conversation in one file.

python examples/openai_agents_agent.py                      # offline, with a scripted model
python examples/openai_agents_agent.py --model gpt-5-mini "I moved to Oslo." "Where do I live?"
"""

import argparse
import asyncio
from collections.abc import Sequence

from agents import Agent, Model, RunConfig, Runner
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from vectormem import MemoryContext, SqliteMemory, SqliteStore, define_memory
from vectormem.adapters.openai_agents import VectormemSession, with_memory

INSTRUCTIONS = "You are a helpful assistant. Remember what will still matter in later conversations."
TALK = ("I moved to Oslo.", "Where do I live?")


def scripted() -> ScriptedModel:
    """Return a model that answers TALK without a network."""
    return ScriptedModel(
        [
            ModelStep(output=[function_call("remember_notes", {"text": "The user lives in Oslo."}, call_id="1")]),
            ModelStep(output=[assistant_message("I will remember it.")]),
            ModelStep(output=[assistant_message("You live in Oslo.")]),
        ]
    )


async def converse(model: str | Model, db: str, user: str, texts: Sequence[str], *, offline: bool) -> None:
    """Answer the messages one after the other; each is a run of its own that recalls anew."""
    async with SqliteStore(db) as store:
        notes = define_memory(
            name="notes", scope=lambda context: f"user:{context.principal}", provider=SqliteMemory(store)
        )
        agent = with_memory(Agent(name="assistant", instructions=INSTRUCTIONS, model=model), [notes])
        session = VectormemSession("today", store, scope_key=f"user:{user}")
        for text in texts:
            result = await Runner.run(
                agent,
                text,
                context=MemoryContext(session_id="today", principal=user),
                session=session,
                run_config=RunConfig(tracing_disabled=offline),
            )
            print(result.final_output)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the conversation of the command line."""
    parser = argparse.ArgumentParser(description="an agent of the OpenAI Agents SDK with memory")
    parser.add_argument("texts", nargs="*", help="what the user says, one message after the other")
    parser.add_argument("--user", default="ada", help="whose memory it is")
    parser.add_argument("--db", default=":memory:", help="the database file")
    parser.add_argument("--model", help="the name of a model; without one, a scripted model")
    given = parser.parse_args(arguments)
    model, texts = (given.model, given.texts or TALK) if given.model else (scripted(), TALK)
    asyncio.run(converse(model, given.db, given.user, texts, offline=not given.model))


if __name__ == "__main__":
    main()
