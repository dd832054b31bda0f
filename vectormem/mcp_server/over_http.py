"""The server over streamable HTTP: no sessions, so any number of processes can serve one file."""

import asyncio
import signal
import socket
from collections.abc import Iterable
from types import FrameType
from typing import Any

from vectormem.adapters.missing import missing_extra
from vectormem.mcp_server.bearer import Bearer
from vectormem.mcp_server.hosts import LOOPBACK, check_name, host_headers, origin_headers
from vectormem.mcp_server.limits import MOST_BYTES
from vectormem.mcp_server.listening import PATH
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
