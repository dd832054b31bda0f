"""The server over standard input and output, for hosts that start it themselves."""

import asyncio
import signal
from contextlib import suppress
from typing import Any, cast

from vectormem.adapters.missing import missing_extra
from vectormem.mcp_server.standard_streams import Wire

try:
    import anyio
    from mcp.server import Server
    from mcp.server.stdio import stdio_server
except ImportError as error:
    raise missing_extra("mcp", error) from error

_GONE = (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError)


def serve_stdio(server: Server[Any], descriptors: tuple[int, int]) -> None:
    """Answer what comes in on `claim_streams()` until its end, until SIGTERM, or until nobody reads the answers."""
    with suppress(asyncio.CancelledError):
        asyncio.run(_serve(server, descriptors))


async def _serve(server: Server[Any], descriptors: tuple[int, int]) -> None:
    _end_on_sigterm()
    wire = cast("anyio.AsyncFile[str]", Wire(descriptors))
    try:
        async with stdio_server(wire, wire) as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())
    except* _GONE:
        pass  # the other side, or this one by SIGTERM, while lines were on their way


def _end_on_sigterm() -> None:
    task = asyncio.current_task()
    if task is not None:
        with suppress(NotImplementedError):  # Windows ends the process itself
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
