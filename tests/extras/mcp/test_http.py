import asyncio
import itertools
import socket
import subprocess

import httpx2
import pytest

from tests.extras.mcp.conftest import HEADERS, call, command, http_server, over_http, post
from vectormem.mcp_server.limits import MOST_BYTES

TOKEN = "s3cret-s3cret-s3cret"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server without tokens."""
    with http_server("--db", tmp_path_factory.mktemp("http") / "agent.db") as url:
        yield url


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with a token, from the environment, and another name."""
    options = ("--db", tmp_path_factory.mktemp("http") / "agent.db", "--allow-host", "memory.example")
    with http_server(*options, env={"VECTORMEM_TOKEN": TOKEN}) as url:
        yield url


def test_the_real_client_remembers_and_recalls(url):
    async def main():
        async with over_http(url) as client:
            item = await call(client, "remember_memory", text="The user is vegetarian")
            found = await call(client, "recall_memory", query="vegetarian")
            return item["remembered"], [one["id"] for one in found["items"]]

    remembered, found = asyncio.run(main())
    assert found == [remembered]


def test_requests_of_the_protocol_before_need_no_session(url):
    answer = post(url, method="tools/list")
    assert "mcp-session-id" not in answer.headers
    names = [tool["name"] for tool in answer.json()["result"]["tools"]]
    assert names == ["remember_memory", "recall_memory", "forget_memory", "search_memory"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", ""])
def test_a_name_that_is_not_the_servers_is_refused(url, host):
    """modelcontextprotocol/python-sdk#1269: DNS rebinding"""
    assert post(url, headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1.evil.example", "null", "file://", "http://localhost@evil.example"],
)
def test_a_page_of_another_site_is_refused(url, origin):
    assert post(url, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:8443"])
def test_a_page_of_this_machine_is_let_in(url, origin):
    assert post(url, headers={"Origin": origin}).status_code == 200


def test_a_further_name_is_answered(guarded):
    for host, status in (("memory.example", 200), ("memory.example:8443", 200), ("other.example", 421)):
        answer = post(guarded, headers={"Authorization": f"Bearer {TOKEN}", "Host": host})
        assert answer.status_code == status


REFUSED = [
    None,
    "",
    "Bearer",
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN.upper()}",
    f"Basic {TOKEN}",
    TOKEN,
    f"Bearer {TOKEN}, Bearer {TOKEN}",
    "Bearer " + "a" * 10_000,
]


@pytest.mark.parametrize("header", REFUSED, ids=range(len(REFUSED)))
def test_every_refusal_is_the_same_and_tells_nothing(guarded, header):
    answer = post(guarded, headers={} if header is None else {"Authorization": header})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json() == {"error": "unauthorized"}


def test_two_tokens_at_once_are_refused(guarded):
    pair = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer other")]
    for headers in itertools.permutations(pair):
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert httpx2.post(guarded, json=message, headers=[*HEADERS.items(), *headers]).status_code == 401


@pytest.mark.parametrize("path", ["/", "/mcp/", "/.well-known/oauth-protected-resource", "/docs", "/mcp/../x"])
def test_every_path_is_behind_the_door(guarded, path):
    assert httpx2.get(guarded.removesuffix("/mcp") + path).status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_opens_the_door(guarded, scheme):
    assert post(guarded, headers={"Authorization": f"{scheme} {TOKEN}"}).json()["result"] == {}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_there_are_no_streams_and_sessions_to_open_or_delete(url, method):
    assert httpx2.request(method, url, headers=HEADERS).status_code == 405


def test_a_request_that_is_too_large_is_refused(url):
    def text_of(size):
        empty = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":""}}}'
        return empty.replace('""', f'"{"a" * (size - len(empty))}"')

    headers = {**HEADERS, "Content-Type": "application/json"}
    for size, status in ((MOST_BYTES, 200), (MOST_BYTES + 1, 413)):
        assert httpx2.post(url, content=text_of(size), headers=headers, timeout=30).status_code == status


def test_a_request_that_does_not_say_how_large_it_is_is_refused_once_it_is_too_large(url):
    chunks = (b"a" * 65536 for _ in range(MOST_BYTES // 65536 + 1))
    headers = {**HEADERS, "Content-Type": "application/json"}
    assert httpx2.post(url, content=chunks, headers=headers, timeout=30).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b'"x"', b"\xff", b'{"jsonrpc":"2.0"}'])
def test_what_is_no_request_is_a_client_error(url, body):
    headers = {**HEADERS, "Content-Type": "application/json"}
    assert 400 <= httpx2.post(url, content=body, headers=headers).status_code < 500


def run(*arguments, env=None):
    return subprocess.run(
        command("--http", *arguments), capture_output=True, text=True, timeout=60, check=False, env=env
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_without_tokens_it_listens_on_no_address_that_others_reach(host, tmp_path):
    result = run("--db", tmp_path / "agent.db", "--host", host, "--port", "0", "--allow-host", "memory.example")
    assert (result.returncode, result.stdout) == (1, "")
    assert "there are no tokens" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_with_a_token_it_listens_on_every_address(tmp_path):
    options = ("--db", tmp_path / "agent.db", "--host", "0.0.0.0", "--allow-host", "memory.example")
    with http_server(*options, env={"VECTORMEM_TOKEN": TOKEN}) as url:
        local = url.replace("0.0.0.0", "127.0.0.1")
        assert post(local).status_code == 401
        assert post(local, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_port_that_is_taken_is_a_failure_that_says_so(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("--db", tmp_path / "agent.db", "--port", taken.getsockname()[1])
    assert result.returncode == 1
    assert "in use" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_weak_token_is_refused_without_being_shown(tmp_path):
    result = run("--db", tmp_path / "agent.db", "--port", "0", "--token", "hunter2")
    assert result.returncode == 1
    assert "at least 16 characters" in result.stderr
    assert "hunter2" not in result.stderr
