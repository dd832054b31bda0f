"""Two principals at one server: whatever one of them sends, the other's items stay unseen and unchanged."""

import asyncio
import itertools
import json

import pytest
from mcp import MCPError

from tests.extras.mcp.conftest import call, http_server, over_http, post
from vectormem import ChatStorage, blocking
from vectormem.testing import HashEmbedder

ADA, EVE = "ada-ada-ada-ada-ada", "eve-eve-eve-eve-eve"
SECRET = "The vault opens with 4711"
SLOTS = {
    "own.py": "scope = lambda context: context.principal and f'user:{context.principal}'",
    "talk.py": "scope = 'session'",
    "by.py": "scope = lambda context: f'{context.principal}:{context.session_id}'",
}
SLOT_FILE = """
from embedders import HashEmbedder
from vectormem import SqliteVectorMemory
{}
slot = dict(scope=scope, provider=SqliteVectorMemory("slots.db", embedder=HashEmbedder()), expose=dict(forget=True))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("principals")
    (folder / "slots").mkdir()
    for name, scope in SLOTS.items():
        text = SLOT_FILE.format(scope).replace("slots.db", str(folder / "slots.db"))
        (folder / "slots" / name).write_text(text)
    tokens = folder / "tokens.json"
    tokens.touch(mode=0o600)
    tokens.write_text(json.dumps({ADA: "ada", EVE: "eve"}))
    with ChatRoom(folder / "agent.db") as room:
        room.say(SECRET)
    return folder


class ChatRoom:
    """Ada's chat in the file, written by another program."""

    def __init__(self, path):
        self._chat = blocking(ChatStorage(path, embedder=HashEmbedder(), scope_key="user:ada"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._chat.close()

    def say(self, text):
        self._chat.save_message("monday", "user", text)


@pytest.fixture(scope="module")
def url(folder):
    """A server with a slot of the principal, two that need a session, and chats, in which Ada has left a secret."""
    options = ("--db", folder / "agent.db", "--slots", folder / "slots", "--tokens", folder / "tokens.json")
    with http_server(*options) as url:
        asyncio.run(_leave_the_secret(url))
        yield url


async def _leave_the_secret(url):
    async with over_http(url, ADA) as client:
        await call(client, "remember_own", text=SECRET)
        await call(client, "remember_talk", text=SECRET, session_id="s1")
        await call(client, "remember_by", text=SECRET, session_id="s1")


def as_eve(url, work):
    async def main():
        async with over_http(url, EVE) as client:
            return await work(client)

    return asyncio.run(main())


def what_ada_has(url):
    async def main():
        async with over_http(url, ADA) as client:
            found = [
                await call(client, "recall_own"),
                await call(client, "recall_talk", session_id="s1"),
                await call(client, "recall_by", session_id="s1"),
            ]
            return [[item["text"] for item in one["items"]] for one in found], found[0]["items"][0]["id"]

    return asyncio.run(main())


def test_each_sees_their_own(url):
    texts, _ = what_ada_has(url)
    assert texts == [[SECRET]] * 3


SESSIONS = ["s1", "ada:s1", "ada%3As1", "session:ada:s1", "user:ada", "ada", "*", "%", "../s1", "s1' OR '1'='1"]
EXTRA = [{}, {"principal": "ada"}, {"user_id": "ada"}, {"_meta": {"principal": "ada"}}, {"scope_key": "user:ada"}]


@pytest.mark.parametrize("tool", ["recall_own", "recall_talk", "recall_by", "search_memory"])
def test_no_argument_shows_what_is_anothers(url, tool):
    async def work(client):
        seen = []
        for session_id, extra in itertools.product([None, *SESSIONS], EXTRA):
            given = {"query": SECRET, **extra, **({} if session_id is None else {"session_id": session_id})}
            seen.append(json.dumps(await call(client, tool, **given)))
        return seen

    assert [text for text in as_eve(url, work) if "vault opens" in text] == []


def test_no_address_and_no_prompt_shows_what_is_anothers(url):
    queries = ["", "?query=vault", *(f"?session_id={one}&query=vault" for one in ("s1", "ada:s1", "ada%3As1", "ada"))]

    async def work(client):
        seen = []
        for name, query in itertools.product(
            ("own", "talk", "by", "own#user:ada", "user:ada@own", "own%23user:ada"), queries
        ):
            try:
                seen.append(str(await client.read_resource(f"memory://{name}{query}")))
            except MCPError as error:
                seen.append(str(error))
        seen += [str(await client.get_prompt("memory", {"session_id": one, "query": "vault"})) for one in SESSIONS]
        return seen

    assert [text for text in as_eve(url, work) if "vault opens" in text] == []


def test_nobody_forgets_what_is_anothers(url):
    _, item = what_ada_has(url)

    async def work(client):
        for session_id in SESSIONS:
            await call(client, "forget_talk", id=item, session_id=session_id)
        return await call(client, "forget_own", id=item)

    assert as_eve(url, work)["forgotten"] is None
    assert what_ada_has(url)[0] == [[SECRET]] * 3


CLAIMS = [
    {"X-User": "ada", "X-Forwarded-User": "ada", "Remote-User": "ada", "X-Principal": "ada"},
    {"Mcp-Session-Id": "ada"},
    {"Cookie": "user=ada; principal=ada"},
    {"vectormem.caller": "ada", "Mcp-Name": "recall_own"},
    {"Authorization-Principal": "ada"},
]


@pytest.mark.parametrize("claims", CLAIMS, ids=range(len(CLAIMS)))
def test_no_header_and_no_metadata_makes_one_another(url, claims):
    meta = {"principal": "ada", "user": "ada", "userId": "ada"}
    params = {"name": "recall_own", "arguments": {}, "_meta": meta}
    answer = post(url, method="tools/call", params=params, headers={"Authorization": f"Bearer {EVE}", **claims})
    assert answer.status_code == 200
    assert json.loads(answer.json()["result"]["content"][0]["text"]) == {"items": []}


def test_calls_of_both_at_once_are_kept_apart(url):
    async def main():
        async with over_http(url, ADA) as ada, over_http(url, EVE) as eve:
            calls = [call(one, "recall_own", query="vault") for _ in range(20) for one in (ada, eve)]
            return await asyncio.gather(*calls)

    found = [[item["text"] for item in one["items"]] for one in asyncio.run(main())]
    assert (found[::2], found[1::2]) == ([[SECRET]] * 20, [[]] * 20)


def test_without_slots_each_principal_has_a_memory_in_the_file(folder):
    async def main(url):
        async with over_http(url, ADA) as ada, over_http(url, EVE) as eve:
            await call(ada, "remember_memory", text=SECRET)
            return [[item["text"] for item in (await call(one, "recall_memory"))["items"]] for one in (ada, eve)]

    with http_server("--db", folder / "plain.db", "--tokens", folder / "tokens.json") as url:
        assert asyncio.run(main(url)) == [[SECRET], []]
