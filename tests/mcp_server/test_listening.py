import socket

import pytest

from vectormem import MemoryInvalidError
from vectormem.mcp_server.listening import listen, url_of


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_loopback_needs_no_token(host):
    with listen(host, 0, names=[host], has_tokens=False) as listening:
        assert listening.getsockname()[0] in ("127.0.0.1", "::1")
        assert url_of(listening).endswith(f":{listening.getsockname()[1]}/mcp")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "2001:db8::1"])
def test_an_address_that_others_reach_is_refused_without_tokens(host):
    with pytest.raises(MemoryInvalidError, match="there are no tokens"):
        listen(host, 0, names=["memory.example"], has_tokens=False)


def test_every_address_needs_names():
    with pytest.raises(MemoryInvalidError, match="--allow-host"):
        listen("0.0.0.0", 0, names=[], has_tokens=True)


def test_every_address_is_listened_on_with_tokens_and_names():
    with listen("0.0.0.0", 0, names=["memory.example"], has_tokens=True) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"


def test_an_address_that_is_taken_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", taken.getsockname()[1], names=[], has_tokens=False)


@pytest.mark.parametrize("host", ["", "*", "http://localhost", "localhost:80"])
def test_what_is_no_host_is_refused(host):
    with pytest.raises(MemoryInvalidError, match="without a port"):
        listen(host, 0, names=[], has_tokens=False)
