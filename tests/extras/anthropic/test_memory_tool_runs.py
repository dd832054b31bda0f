"""Whole runs with Anthropic's memory tool, with a local server in the place of Anthropic's."""

import asyncio

from anthropic import Anthropic, AsyncAnthropic

from tests.extras.anthropic.slots import TOOL, define, kept, put
from tests.extras.model_server import message
from vectormem.adapters.anthropic_memory_tool import AsyncSlotMemoryTool, SlotMemoryTool

STEPS = [
    message(None, ("t1", "memory", {"command": "view", "path": "/memories"})),
    message(None, ("t2", "memory", {"command": "create", "path": "/memories/notes/home.md", "file_text": "In Oslo."})),
    message(None, ("t3", "memory", {"command": "view", "path": "/memories/notes/none.md"})),
    message("Done."),
]
OPTIONS = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "I moved to Oslo."}]}


def check_run(model, slot, final):
    assert final.content[0].text == "Done."
    assert kept(slot) == {"tea": "The user likes tea.", "home": "In Oslo."}
    assert model.bodies[0]["tools"] == [TOOL]  # the later requests go on with the same thread
    results = [body["messages"][-1]["content"][0] for body in model.bodies[1:]]
    assert [(one["tool_use_id"], one.get("is_error", False)) for one in results] == [
        *(("t1", False), ("t2", False), ("t3", True)),
    ]
    assert "/memories/notes/tea.md" in str(results[0]["content"])
    assert "there is no file /memories/notes/none.md" in str(results[2]["content"])


def test_a_whole_run_of_the_async_client(model):
    slot = define()
    put(slot, "tea", "The user likes tea.")
    model.answers += STEPS

    async def main():
        async with AsyncAnthropic(base_url=model.url, api_key="sk-1") as client:
            return await client.beta.messages.tool_runner(tools=[AsyncSlotMemoryTool([slot])], **OPTIONS).until_done()

    check_run(model, slot, asyncio.run(main()))


def test_a_whole_run_of_the_blocking_client(model):
    slot = define()
    put(slot, "tea", "The user likes tea.")
    model.answers += STEPS
    with Anthropic(base_url=model.url, api_key="sk-1") as client:
        final = client.beta.messages.tool_runner(tools=[SlotMemoryTool([slot])], **OPTIONS).until_done()
    check_run(model, slot, final)
