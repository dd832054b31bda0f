"""The tool with which a model searches: shapes, defaults, and that a turn never dies of it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.chat.models import Marked, fill
from vectormem import ChatStorage, MemoryInvalidError, SqliteStore, blocking

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def filled(**options: object) -> ChatStorage:
    times = iter(NOON + timedelta(minutes=minute) for minute in range(99))
    chat = ChatStorage(":memory:", embedder=Marked(), clock=lambda: next(times), **options)
    given = blocking(chat)
    given.save_message("now", "user", "said in this chat cos=0.95")
    given.save_message("then", "user", "said by the user cos=0.50")
    given.save_message("then", "assistant", "said in an answer cos=0.75")
    return chat


def call(tool: object, arguments: object) -> dict:
    return asyncio.run(tool.call(arguments))


def test_the_result_has_the_documented_shape() -> None:
    tool = filled().create_memory_retrieval_tool(limit=1)
    assert tool.name == "search_memory"
    assert tool.annotations == {"readOnlyHint": True, "destructiveHint": False}
    assert call(tool, {"query": "anything"}) == {
        "messages": [
            {
                "conversationId": "now",
                "role": "user",
                "text": "said in this chat cos=0.95",
                "createdAt": "2026-03-01T12:00:00Z",
                "similarity": pytest.approx(0.95),
            }
        ]
    }


def test_the_options_of_the_tool_hold_for_every_call() -> None:
    tool = filled().create_memory_retrieval_tool(
        limit=5, min_similarity=0.4, exclude_conversation_id="now", roles=["user"]
    )
    assert texts(call(tool, {"query": "anything"})) == ["said by the user cos=0.50"]
    strict = filled().create_memory_retrieval_tool(min_similarity=0.8)
    assert texts(call(strict, {"query": "anything"})) == ["said in this chat cos=0.95"]


def test_the_model_may_choose_limit_and_order() -> None:
    tool = filled().create_memory_retrieval_tool(limit=1)
    found = call(tool, {"query": "anything", "limit": 2, "sortBy": "chronological"})
    assert texts(found) == ["said in this chat cos=0.95", "said in an answer cos=0.75"]
    assert len(texts(call(tool, '{"query": "anything", "limit": null, "sortBy": null}'))) == 1


def test_the_order_of_the_tool_can_be_set() -> None:
    tool = filled().create_memory_retrieval_tool(sort_by="chronological")
    assert texts(call(tool, {"query": "anything"}))[0] == "said in this chat cos=0.95"
    assert texts(call(tool, {"query": "anything", "sortBy": "similarity"}))[1] == "said in an answer cos=0.75"


def test_a_model_gets_at_most_50_messages_unless_the_tool_says_more() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=Marked())
        await fill(chat, *[f"message {place} cos=0.90" for place in range(70)])
        assert len(texts(await chat.create_memory_retrieval_tool().call({"query": "a", "limit": 1000}))) == 50
        assert len(texts(await chat.create_memory_retrieval_tool(limit=60).call({"query": "a"}))) == 60

    asyncio.run(main())


def test_a_note_says_that_nothing_is_relevant() -> None:
    found = call(filled().create_memory_retrieval_tool(min_similarity=1), {"query": "anything"})
    assert found == {"messages": [], "note": "Nothing relevant was found in earlier conversations."}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": ""},
        {"query": "  "},
        {"query": 5},
        {"query": None},
        {"query": "tea", "limit": 0},
        {"query": "tea", "limit": "many"},
        {"query": "tea", "sortBy": "newest"},
        {"query": "tea", "top_k": 3},
        "not json",
        "[]",
        None,
        7,
    ],
)
def test_wrong_arguments_are_an_error_result_without_an_embedding_call(arguments: object) -> None:
    async def main() -> None:
        model = Marked()
        tool = ChatStorage(":memory:", embedder=model).create_memory_retrieval_tool()
        found = await tool.call(arguments)
        assert list(found) == ["error"]
        assert isinstance(found["error"], str)
        assert model.calls == []

    asyncio.run(main())


def test_a_failing_embedder_is_an_error_result() -> None:
    model = Marked()
    chat = ChatStorage(":memory:", embedder=model)
    model.fails = True
    assert "the model is gone" in call(chat.create_memory_retrieval_tool(), {"query": "tea"})["error"]


def test_a_closed_store_is_an_error_result() -> None:
    store = SqliteStore(":memory:")
    tool = ChatStorage(store, embedder=Marked()).create_memory_retrieval_tool()
    store.close()
    assert "closed" in call(tool, {"query": "tea"})["error"]


def test_a_failure_that_nobody_foresaw_is_an_error_result(monkeypatch, caplog) -> None:
    chat = ChatStorage(":memory:", embedder=Marked())

    async def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("unforeseen")

    monkeypatch.setattr(chat, "search_messages", fail)
    assert call(chat.create_memory_retrieval_tool(), {"query": "tea"}) == {"error": "search_memory failed: unforeseen"}
    assert "unforeseen" in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"min_similarity": 2}, {"sort_by": "x"}, {"roles": "user"}, {"exclude_conversation_id": " "}],
)
def test_wrong_options_of_the_tool_are_refused_when_it_is_made(wrong: dict) -> None:
    with pytest.raises(MemoryInvalidError):
        ChatStorage(":memory:", embedder=Marked()).create_memory_retrieval_tool(**wrong)


def test_the_tool_can_be_given_to_model_apis_and_its_result_is_json() -> None:
    tool = filled().create_memory_retrieval_tool()
    schema = tool.to_openai()["function"]["parameters"]
    assert list(schema["properties"]) == ["query", "limit", "sortBy"]
    assert (schema["required"], schema["additionalProperties"]) == (["query"], False)
    assert json.loads(json.dumps(call(tool, {"query": "anything"})))["messages"]


def texts(found: dict) -> list[str]:
    return [message["text"] for message in found["messages"]]
