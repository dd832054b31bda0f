"""An agent with memory on the plain OpenAI SDK, or any server that speaks chat completions.

python examples/plain_openai.py --user ada "I moved to Oslo." "Where do I live?"
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any

from openai import AsyncOpenAI

from vectormem import MemoryContext, MemoryRun, MemorySlot, SqliteMemory, VectorMemError, define_memory

INSTRUCTIONS = "You are a helpful assistant. Remember what will still matter in later conversations."
MOST_CALLS = 10


def notes(db: str) -> MemorySlot:
    """Define the memory: one list of notes for each user."""
    return define_memory(
        name="notes",
        scope=lambda context: f"user:{context.principal}",
        provider=SqliteMemory(db),
        expose={"forget": True},
    )


async def reply(
    client: AsyncOpenAI, model: str, slots: Sequence[MemorySlot], messages: list[Any], text: str, user: str
) -> str:
    """Answer one message; `messages` is the conversation so far and grows. It never holds what was recalled."""
    memory = MemoryRun(slots, MemoryContext(principal=user))
    messages.append({"role": "user", "content": text})
    for _ in range(MOST_CALLS):
        prompt = await memory.system_prompt(INSTRUCTIONS, last_input=text)
        completion = await client.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": prompt}, *messages],
            tools=[tool.to_openai() for tool in memory.tools],
        )
        message = completion.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        messages += [await called(memory, call) for call in message.tool_calls]
    raise RuntimeError(f"the model still calls tools after {MOST_CALLS} calls")


async def called(memory: MemoryRun, call: Any) -> dict[str, str]:
    """Call a tool; what is wrong with the call is told to the model."""
    try:
        content = json.dumps(await memory.call(call.function.name, call.function.arguments), ensure_ascii=False)
    except VectorMemError as error:
        content = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call.id, "content": content}


async def main(arguments: Sequence[str] | None = None) -> None:
    """Answer the messages of the command line as one conversation."""
    parser = argparse.ArgumentParser(description="an agent with memory on the plain OpenAI SDK")
    parser.add_argument("texts", nargs="+", help="what the user says, one message after the other")
    parser.add_argument("--user", default="ada", help="whose memory it is")
    parser.add_argument("--db", default="memory.db", help="the database file")
    parser.add_argument("--model", default="gpt-5-mini")
    parser.add_argument("--base-url", help="another server than OpenAI's")
    given = parser.parse_args(arguments)
    slot, messages = notes(given.db), list[Any]()
    async with AsyncOpenAI(base_url=given.base_url) as client:
        for text in given.texts:
            print(await reply(client, given.model, [slot], messages, text, given.user))


if __name__ == "__main__":
    asyncio.run(main())
