import asyncio

import mcp_types as types
import pytest
from mcp import Client, MCPError
from pydantic import BaseModel

from embedders import as_embedder
from tests.extras.mcp.conftest import call, slot
from vectormem import ChatStorage, InMemoryVectorMemory, MemoryRun, StorageFailedError
from vectormem.mcp_server.memories import Memories
from vectormem.mcp_server.server import memory_server
from vectormem.testing import HashEmbedder


class Preference(BaseModel):
    topic: str
    value: str
    why: str | None = None


def chat():
    return ChatStorage(":memory:", embedder=HashEmbedder())


def test_tools_are_those_of_the_slots_with_their_schemas_unchanged(talk):
    slots = [
        slot(description="What the user told."),
        slot("likes", item_schema=Preference, item_key="topic", expose={"recall": False}),
    ]
    listed = talk(lambda client: client.list_tools(), *slots).tools
    assert [
        (tool.name, tool.description, tool.input_schema, tool.annotations.model_dump(by_alias=True, exclude_none=True))
        for tool in listed
    ] == [
        (tool.name, tool.description, tool.input_schema, {**tool.annotations, "openWorldHint": False})
        for tool in MemoryRun(slots).tools
    ]


def test_an_item_is_remembered_recalled_and_forgotten(talk):
    async def work(client):
        item = (await call(client, "remember_notes", text="The user likes green tea"))["remembered"]
        found = await call(client, "recall_notes", query="tea", limit=1)
        forgotten = await call(client, "forget_notes", id=item)
        return item, found, forgotten, await call(client, "recall_notes")

    item, found, forgotten, left = talk(work, slot())
    assert [(one["id"], one["text"]) for one in found["items"]] == [(item, "The user likes green tea")]
    assert (forgotten, left) == ({"forgotten": item}, {"items": []})


def test_a_result_is_what_the_provider_gives_with_its_score(talk):
    """open-metadata/OpenMetadata#28476"""
    one = slot()

    async def work(client):
        await one.provider.add("notes#global", "green tea", metadata={"from": "Kyoto"})
        [item] = await one.provider.list("notes#global", query="tea")
        return item, await call(client, "recall_notes", query="tea")

    item, found = talk(work, one)
    created = item.model_dump(mode="json")["created_at"]
    assert found["items"] == [
        {"id": item.id, "text": "green tea", "createdAt": created, "score": item.score, "metadata": {"from": "Kyoto"}}
    ]


def test_a_structured_item_replaces_the_one_of_its_key(talk):
    async def work(client):
        first = await call(client, "remember_likes", topic="drink", value="tea")
        return first, await call(client, "remember_likes", topic="drink", value="coffee")

    first, second = talk(work, slot("likes", item_schema=Preference, item_key="topic"))
    assert second == {**first, "replaced": True}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "'text' is a required property"),
        ({"text": ""}, "text: "),
        ({"text": " "}, "text: must not be blank"),
        ({"text": 7}, "text: 7 is not of type 'string'"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": "tea", "user_id": "ada"}, "'user_id' was unexpected"),
    ],
)
def test_wrong_arguments_are_a_result_that_says_what_is_wrong(talk, arguments, reason):
    async def work(client):
        return await call(client, "remember_notes", **arguments), await call(client, "recall_notes")

    error, left = talk(work, slot())
    assert reason in error
    assert left == {"items": []}


class Failing:
    def __init__(self, error):
        self.error = error

    async def list(self, scope_key, *, limit=None, query=None):
        raise self.error

    async def add(self, scope_key, text, *, metadata=None):
        raise self.error

    async def remove(self, scope_key, item_id):
        raise self.error


@pytest.mark.parametrize("error", [StorageFailedError("the disk is full"), OSError("the disk is full")])
@pytest.mark.parametrize("name", ["remember_notes", "recall_notes", "forget_notes"])
def test_a_provider_that_fails_is_an_error_of_the_tool(talk, error, name):
    arguments = {"remember_notes": {"text": "x"}, "forget_notes": {"id": "x"}}.get(name, {})
    assert "the disk is full" in talk(lambda client: call(client, name, **arguments), slot(provider=Failing(error)))


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(refused):
    error = refused(lambda client: call(client, "remember_nothing", text="x"), slot())
    assert (error.code, error.message) == (types.INVALID_PARAMS, "Unknown tool: remember_nothing")


def test_chats_are_searched(talk):
    storage = chat()

    async def work(client):
        await storage.save_message("monday", "user", "We hid the spare key under the blue flower pot")
        return await call(client, "search_memory", query="Where is the spare key?")

    [found] = talk(work, chats=lambda principal: storage)["messages"]
    assert (found["conversationId"], found["role"]) == ("monday", "user")
    assert found["text"] == "We hid the spare key under the blue flower pot"


@pytest.mark.parametrize("arguments", [{}, {"query": " "}, {"query": 7}])
def test_a_search_that_fails_is_an_error_of_the_tool(talk, arguments):
    error = talk(lambda client: call(client, "search_memory", **arguments), chats=lambda principal: chat())
    assert error.startswith('{"error": ')


def test_a_search_that_finds_nothing_is_no_error(talk):
    found = talk(lambda client: call(client, "search_memory", query="anything"), chats=lambda principal: chat())
    assert found["messages"] == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_fault_of_the_server_tells_the_client_nothing(mode, caplog):
    def caller_of(request):
        raise RuntimeError("the password is swordfish")

    async def main():
        async with Client(memory_server(Memories([slot()]), caller_of), mode=mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.list_tools()
            return caught.value

    error = asyncio.run(main())
    assert (error.code, error.message) == (types.INTERNAL_ERROR, "Internal error")
    assert "swordfish" in caplog.text


def test_calls_at_once_keep_every_item(talk):
    async def work(client):
        await asyncio.gather(*(call(client, "remember_notes", text=f"fact {number}") for number in range(50)))
        return await call(client, "recall_notes", limit=100)

    assert {item["text"] for item in talk(work, slot())["items"]} == {f"fact {number}" for number in range(50)}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_that_is_taken_back_leaves_nothing_behind(mode):
    async def main():
        started = asyncio.Event()

        async def embed(texts):
            if texts[0] == "slow":
                started.set()
                await asyncio.Event().wait()
            return await HashEmbedder().embed(texts)

        one = slot(provider=InMemoryVectorMemory(embedder=as_embedder(embed, id="slow")))
        async with Client(memory_server(Memories([one])), mode=mode) as client:
            slow = asyncio.create_task(call(client, "remember_notes", text="slow"))
            await started.wait()
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            await call(client, "remember_notes", text="quick")
            return await call(client, "recall_notes")

    assert [item["text"] for item in asyncio.run(main())["items"]] == ["quick"]


def test_one_server_answers_in_several_event_loops():
    server = memory_server(Memories([slot()], chats=lambda principal: chat()))

    async def main(text):
        async with Client(server) as client:
            await call(client, "remember_notes", text=text)
            return len((await call(client, "recall_notes"))["items"])

    assert [asyncio.run(main(text)) for text in ("a", "b")] == [1, 2]
