"""Which addresses are of this machine alone, and under which names the server answers."""

import ipaddress
import re
from collections.abc import Iterable, Iterator

from vectormem.errors import MemoryInvalidError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


def is_loopback(address: str) -> bool:
    """Tell whether an IP address can be reached from this machine alone."""
    return ipaddress.ip_address(address).is_loopback


def is_every_address(host: str) -> bool:
    """Tell whether a host to listen on stands for all addresses of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def check_name(name: str) -> str:
    """Return a host name or IP address. Raises MemoryInvalidError for a URL, a port or a wildcard with it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        if not _NAME.fullmatch(name):
            raise MemoryInvalidError(f"a host is a name or an IP address without a port, not {name!r}") from None
    return name


def host_headers(names: Iterable[str]) -> list[str]:
    """Return the Host headers of these names, with any port or none (`:*` stands for any)."""
    return [header for name in names for header in _with_ports(name)]


def origin_headers(names: Iterable[str]) -> list[str]:
    """Return the Origin headers of pages that these names serve."""
    return [f"{scheme}://{header}" for scheme in ("http", "https") for header in host_headers(names)]


def _with_ports(name: str) -> Iterator[str]:
    shown = f"[{name}]" if ":" in name else name.lower()
    yield shown
    yield f"{shown}:*"
