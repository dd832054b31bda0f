"""An agent with memory on the plain Anthropic SDK.

python examples/plain_anthropic.py --user ada "I moved to Oslo." "Where do I live?"
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any

from anthropic import AsyncAnthropic

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
    client: AsyncAnthropic, model: str, slots: Sequence[MemorySlot], messages: list[Any], text: str, user: str
) -> str:
    """Answer one message; `messages` is the conversation so far and grows. It never holds what was recalled."""
    memory = MemoryRun(slots, MemoryContext(principal=user))
    messages.append({"role": "user", "content": text})
    for _ in range(MOST_CALLS):
        message = await client.messages.create(
            model=model,
            max_tokens=4096,
            system=await memory.system_prompt(INSTRUCTIONS, last_input=text),
            messages=messages,
            tools=[tool.to_anthropic() for tool in memory.tools],
        )
        messages.append({"role": "assistant", "content": [block.model_dump() for block in message.content]})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        messages.append({"role": "user", "content": [await called(memory, call) for call in calls]})
    raise RuntimeError(f"the model still calls tools after {MOST_CALLS} calls")


async def called(memory: MemoryRun, call: Any) -> dict[str, Any]:
    """Call a tool; what is wrong with the call is told to the model."""
    result = {"type": "tool_result", "tool_use_id": call.id}
    try:
        return {**result, "content": json.dumps(await memory.call(call.name, call.input), ensure_ascii=False)}
    except VectorMemError as error:
        return {**result, "content": str(error), "is_error": True}


async def main(arguments: Sequence[str] | None = None) -> None:
    """Answer the messages of the command line as one conversation."""
    parser = argparse.ArgumentParser(description="an agent with memory on the plain Anthropic SDK")
    parser.add_argument("texts", nargs="+", help="what the user says, one message after the other")
    parser.add_argument("--user", default="ada", help="whose memory it is")
    parser.add_argument("--db", default="memory.db", help="the database file")
    parser.add_argument("--model", default="claude-sonnet-5")
    parser.add_argument("--base-url", help="another server than Anthropic's")
    given = parser.parse_args(arguments)
    slot, messages = notes(given.db), list[Any]()
    async with AsyncAnthropic(base_url=given.base_url) as client:
        for text in given.texts:
            print(await reply(client, given.model, [slot], messages, text, given.user))


if __name__ == "__main__":
    asyncio.run(main())
