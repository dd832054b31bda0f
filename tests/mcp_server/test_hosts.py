import pytest

from vectormem import MemoryInvalidError
from vectormem.mcp_server.hosts import check_name, host_headers, is_every_address, is_loopback, origin_headers


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("128.0.0.1", False),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_only_addresses_of_the_machine_itself_are_loopback(address, local):
    assert is_loopback(address) is local


@pytest.mark.parametrize(
    ("host", "every"), [("0.0.0.0", True), ("::", True), ("127.0.0.1", False), ("localhost", False)]
)
def test_the_unspecified_address_is_every_address(host, every):
    assert is_every_address(host) is every


@pytest.mark.parametrize("name", ["memory.example.org", "localhost", "10.0.0.1", "::1", "a", "xn--bcher-kva.example"])
def test_names_and_addresses_are_hosts(name):
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "*", "*.example.org", "a:80", "http://a", "a/b", "a b", "a@b", "-a", "a\n", "é"])
def test_anything_else_is_not(name):
    with pytest.raises(MemoryInvalidError, match="without a port"):
        check_name(name)


def test_a_name_stands_for_itself_with_any_port_and_with_none():
    assert host_headers(["Memory.example", "::1"]) == ["memory.example", "memory.example:*", "[::1]", "[::1]:*"]


def test_a_page_of_a_name_may_ask_over_http_and_https():
    assert origin_headers(["a"]) == ["http://a", "http://a:*", "https://a", "https://a:*"]
