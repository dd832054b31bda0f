"""Talk to `vectormem mcp` as a host does: it starts the server and speaks to it on standard input and output.

Needs `pip install 'vectormem[mcp]'`, and no network. Run it with: python examples/mcp_client.py
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """Call a tool; an error comes back as the text that a model would read."""
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


async def talk(db: Path) -> None:
    """Remember in one conversation, and be reminded in the next."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "vectormem", "mcp", "--db", str(db)])
    async with Client(server) as client:
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
        item = await call(client, "remember_memory", text="Sam is vegetarian")
        await call(client, "remember_memory", text="Sam lives in Oslo")
    async with Client(server) as client:
        found = await call(client, "recall_memory", query="Is Sam a vegetarian?", limit=1)
        print("recalled:", found["items"][0]["text"])
        await call(client, "forget_memory", id=item["remembered"])
        left = await call(client, "recall_memory")
        print("left:", [one["text"] for one in left["items"]])
        print("an error:", await call(client, "remember_memory", txt="a typo"))
        prompt = await client.get_prompt("memory")
        print("prompt:", prompt.messages[0].content.text.splitlines()[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(talk(Path(folder) / "memory.db"))
