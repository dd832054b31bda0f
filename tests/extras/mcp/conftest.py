"""The server as its own client reaches it: in this process, over standard input, over HTTP."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from vectormem import InMemoryVectorMemory, define_memory
from vectormem.mcp_server.caller import Caller
from vectormem.mcp_server.memories import Memories
from vectormem.mcp_server.server import memory_server
from vectormem.testing import HashEmbedder

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def slot(name="notes", scope="global", **options):
    provider = options.pop("provider", None) or InMemoryVectorMemory(embedder=HashEmbedder())
    return define_memory(name=name, scope=scope, provider=provider, **{"expose": {"forget": True}, **options})


@pytest.fixture(params=["auto", "legacy"])
def talk(request):
    """Run `work(client)` against a server in this process, by the newest protocol and by the one before it."""

    def run(work, *slots, chats=None, principal=None):
        memories = Memories(slots, chats=chats)

        async def main():
            server = memory_server(memories, lambda request: Caller(principal))
            async with Client(server, mode=request.param) as client:
                return await work(client)

        return asyncio.run(main())

    return run


@pytest.fixture
def refused(talk):
    """Like `talk`, for work that is refused: return the error of the protocol."""

    def run(work, *slots, **options):
        async def caught(client):
            with pytest.raises(MCPError) as caught:
                await work(client)
            return caught.value

        return talk(caught, *slots, **options)

    return run


async def call(client, name, **arguments):
    """Call a tool; return its result as JSON, or the text of the error."""
    result = await client.call_tool(name, arguments)
    [content] = result.content
    return content.text if result.is_error else json.loads(content.text)


def command(*arguments):
    return [sys.executable, "-m", "vectormem", "mcp", *map(str, arguments)]


def over_stdio(*arguments, env=None):
    return StdioServerParameters(
        command=sys.executable, args=command(*arguments)[1:], env={**os.environ, **(env or {})}
    )


@contextlib.contextmanager
def http_server(*arguments, env=None):
    """Start a server on a free port, yield its URL, and see that it ends by SIGTERM as it should."""
    process = subprocess.Popen(
        command("--http", "--port", "0", "--json", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    with process:
        try:
            document = b"".join(iter(process.stdout.readline, b"}\n")) if process.poll() is None else b""
            yield json.loads(document + b"}")["url"]
        finally:
            process.terminate()
            rest, errors = process.communicate(timeout=30)
            assert (process.returncode, rest) == (0, b""), errors.decode()


@contextlib.asynccontextmanager
async def over_http(url, token=None):
    """Open a client of the server."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    http_client = httpx2.AsyncClient(headers=headers, timeout=30)
    async with http_client, Client(streamable_http_client(url, http_client=http_client)) as client:
        yield client


def post(url, body=None, *, method="ping", params=None, headers=None):
    """Send one request as any program can; return the response."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})}
    return httpx2.post(url, json=message if body is None else body, headers={**HEADERS, **(headers or {})}, timeout=30)
