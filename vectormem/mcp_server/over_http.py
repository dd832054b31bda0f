"""The server over streamable HTTP: no sessions, so any number of processes can serve one file."""

import asyncio
import signal
import socket
from collections.abc import Iterable
from types import FrameType
from typing import Any

from vectormem.adapters.missing import missing_extra
from vectormem.errors import MemoryInvalidError
from vectormem.mcp_server.bearer import Bearer
from vectormem.mcp_server.hosts import (
    LOOPBACK,
    check_name,
    host_headers,
    is_every_address,
    is_loopback,
    origin_headers,
    resolve,
)
from vectormem.mcp_server.limits import MOST_BYTES
from vectormem.mcp_server.tokens import Tokens

try:
    import uvicorn
    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette
    from starlette.routing import Route
    from starlette.types import ASGIApp
except ImportError as error:
    raise missing_extra("mcp", error) from error

PATH = "/mcp"
_MOST_CONNECTIONS = 1000
_SECONDS_TO_END = 5


def http_app(server: Server[Any], *, names: Iterable[str] = (), tokens: Tokens | None = None) -> ASGIApp:
    """Return the server as an ASGI application at `/mcp`.

    It answers under the names of the loopback and under `names`, whatever address a request came to; a page
    of another site gets nothing. With `tokens`, the server's `caller_of` is `proved_caller`.
    """
    known = [*LOOPBACK, *map(check_name, names)]
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=MOST_BYTES,
        security_settings=TransportSecuritySettings(
            allowed_hosts=host_headers(known), allowed_origins=origin_headers(known)
        ),
    )
    route = Route(PATH, StreamableHTTPASGIApp(manager), methods=["POST"])
    app = Starlette(routes=[route], lifespan=lambda app: manager.run())
    return app if tokens is None else Bearer(app, tokens)


def listen(host: str, port: int, *, names: Iterable[str] = (), tokens: Tokens | None = None) -> socket.socket:
    """Open the socket to serve from; port 0 takes a free one.

    Raises MemoryInvalidError for an address that other machines reach where there are no tokens, or no
    names under which they may reach it. OSError where the address is taken.
    """
    family, address = resolve(check_name(host), port)
    if tokens is None and not is_loopback(address[0]):
        raise MemoryInvalidError(f"{host} can be reached from other machines: that needs tokens, and none are given")
    if is_every_address(host) and not list(names):
        raise MemoryInvalidError(f"{host} is every address of the machine: say by which names clients reach it")
    return socket.create_server(address, family=family)


def url_of(listening: socket.socket) -> str:
    """Return where the server answers."""
    address, port = listening.getsockname()[:2]
    return f"http://{f'[{address}]' if ':' in address else address}:{port}{PATH}"


def serve_http(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until SIGTERM or an interrupt; what runs then has five seconds to end."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    before = signal.signal(signal.SIGTERM, _end_quietly)
    try:
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
    finally:
        signal.signal(signal.SIGTERM, before)


def _end_quietly(number: int, frame: FrameType | None) -> None:
    """Take the signal that uvicorn raises again when it has ended, so that the caller can close what it opened."""
