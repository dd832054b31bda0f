"""The socket that the HTTP server listens on, and who may reach it."""

import socket
from collections.abc import Collection

from vectormem.errors import MemoryInvalidError
from vectormem.mcp_server.hosts import check_name, is_every_address, is_loopback

PATH = "/mcp"


def listen(host: str, port: int, *, names: Collection[str], has_tokens: bool) -> socket.socket:
    """Open the socket to serve from; port 0 takes a free one.

    Raises MemoryInvalidError for an address that other machines reach where there are no tokens, or no
    names by which they may reach it. OSError where the name is unknown or the address is taken.
    """
    family, address = _resolved(check_name(host), port)
    if not has_tokens and not is_loopback(address[0]):
        raise MemoryInvalidError(
            f"{host} can be reached from other machines, and there are no tokens; "
            "give --tokens FILE or set VECTORMEM_TOKEN, or listen on 127.0.0.1"
        )
    if is_every_address(host) and not names:
        raise MemoryInvalidError(
            f"{host} stands for every address of this machine; say with --allow-host by which names clients reach it"
        )
    return socket.create_server(address, family=family)


def url_of(listening: socket.socket) -> str:
    """Return where the server answers."""
    address, port = listening.getsockname()[:2]
    return f"http://{f'[{address}]' if ':' in address else address}:{port}{PATH}"


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return family, (str(address[0]), int(address[1]))
