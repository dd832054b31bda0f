"""Chats exported by other programs are read as messages."""

import asyncio
import json
from datetime import UTC, datetime

import pytest

from embedders import HashEmbedder
from tests.chat.models import contents
from vectormem import ChatStorage, MemoryInvalidError
from vectormem.chat.exports import read_chats


def node(name: str, parent: str | None, role: str, *parts: object, **more: object) -> dict:
    message = {
        "id": f"m-{name}",
        "author": {"role": role},
        "create_time": more.pop("time", 1.5e9),
        "content": {"content_type": more.pop("kind", "text"), "parts": list(parts)},
        **more,
    }
    return {name: {"id": name, "message": message, "parent": parent, "children": []}}


CHATGPT = [
    {
        "title": "Garden",
        "conversation_id": "conv-1",
        "id": "conv-1",
        "create_time": 1.5e9,
        "current_node": "answer",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["system"]},
            **node("system", "root", "system", "You are helpful"),
            **node("hidden", "system", "user", "my profile", metadata={"is_visually_hidden_from_conversation": True}),
            **node(
                "question",
                "hidden",
                "user",
                {"asset_pointer": "file-1"},
                "What is this flower?",
                kind="multimodal_text",
            ),
            **node("dropped", "question", "assistant", "An answer that was regenerated", time=1.5e9 + 1),
            **node("call", "question", "assistant", "search(...)", kind="code"),
            **node("tool", "call", "tool", "results"),
            **node("answer", "tool", "assistant", "A tulip.", "It blooms in spring.", time=1.5e9 + 60.25),
        },
    }
]

CLAUDE = [
    {
        "uuid": "conv-2",
        "name": "",
        "created_at": "2026-03-01T12:00:00.000000Z",
        "account": {"uuid": "a"},
        "chat_messages": [
            {
                "uuid": "u1",
                "sender": "human",
                "text": "How do I brew tea?",
                "content": [{"type": "text", "text": "How do I brew tea?"}],
                "created_at": "2026-03-01T12:00:05.5Z",
                "attachments": [{"file_name": "a.txt", "extracted_content": "secret"}],
            },
            {
                "uuid": "u2",
                "sender": "assistant",
                "text": "This block is not supported",
                "content": [
                    {"type": "thinking", "thinking": "hmm"},
                    {"type": "tool_use", "name": "search", "input": {}},
                    {"type": "text", "text": "Pour water of 80 °C"},
                    {"type": "text", "text": "and wait."},
                ],
                "created_at": "2026-03-01T14:00:09+02:00",
            },
            {"uuid": "u3", "sender": "human", "text": "thanks", "created_at": "2026-03-01T12:01:00Z"},
            {"uuid": "u4", "sender": "assistant", "text": "", "content": [], "created_at": "2026-03-01T12:01:01Z"},
        ],
    }
]


def shown(text: str) -> list[tuple]:
    return [(one.conversation_id, one.id, one.role, one.content, one.created_at) for one in read_chats(text)]


def test_of_chatgpt_the_branch_shown_last_is_read() -> None:
    start = datetime.fromtimestamp(1.5e9, UTC)
    assert shown(json.dumps(CHATGPT)) == [
        ("conv-1", "m-question", "user", "What is this flower?", start),
        (
            "conv-1",
            "m-answer",
            "assistant",
            "A tulip.\nIt blooms in spring.",
            datetime.fromtimestamp(1.5e9 + 60.25, UTC),
        ),
    ]
    assert [one.metadata for one in read_chats(json.dumps(CHATGPT))] == [{"title": "Garden"}] * 2


def test_of_claude_the_texts_are_read() -> None:
    assert shown("\n " + json.dumps(CLAUDE, indent=1)) == [
        ("conv-2", "u1", "user", "How do I brew tea?", datetime(2026, 3, 1, 12, 0, 5, 500000, UTC)),
        ("conv-2", "u2", "assistant", "Pour water of 80 °C\nand wait.", datetime(2026, 3, 1, 12, 0, 9, 0, UTC)),
        ("conv-2", "u3", "user", "thanks", datetime(2026, 3, 1, 12, 1, 0, 0, UTC)),
    ]


def test_missing_times_keep_the_order() -> None:
    given = json.loads(json.dumps(CHATGPT))
    given[0]["mapping"]["answer"]["message"]["create_time"] = None
    assert [one.content[:5] for one in read_chats(json.dumps(given))] == ["What ", "A tul"]
    assert len({one.created_at for one in read_chats(json.dumps(given))}) == 1


def test_json_lines_are_messages() -> None:
    lines = [
        {"conversation_id": "c", "role": "user", "content": "one\u2028line", "id": "m1", "metadata": {"n": 1}},
        {"conversation_id": "c", "role": "assistant", "content": "two", "created_at": "2026-03-01T12:00:00Z"},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n\n"
    first, second = read_chats(text)
    assert (first.id, first.content, first.metadata) == ("m1", "one\u2028line", {"n": 1})
    assert (second.role, second.created_at) == ("assistant", datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert second.id


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[{", "the file is not valid JSON"),
        ('[{"title": "x"}]', "conversation 1 is neither of ChatGPT"),
        ("[1]", "conversation 1 is neither"),
        ('[{"mapping": {"a": {"message": {"author": {"role": "user"}}}}, "current_node": "a"}]', ""),
        ('[{"chat_messages": [{"sender": "human", "text": "x"}], "uuid": "c"}]', "conversation 1 is not as expected"),
        ('[{"chat_messages": 5, "uuid": "c"}]', "conversation 1 is not as expected"),
        ('[{"mapping": [99999999999999999999]}]', "conversation 1 is not as expected"),
        ("hello", "line 1 is not valid JSON"),
        ('{"role": "user", "content": "x", "conversation_id": "c"}\n{"role": "user"}', "line 2: .*conversation_id"),
        ('{"role": "user", "content": 5, "conversation_id": "c"}', "line 1: content"),
        ('{"role": "user", "content": "x", "conversation_id": "c", "created_at": "2026-01-01T00:00:00"}', "line 1"),
        ('{"role": "user", "content": "x", "conversation_id": "c", "colour": 1}', "line 1: colour"),
    ],
)
def test_what_is_no_chat_is_refused_with_its_place(text: str, reason: str) -> None:
    if not reason:
        assert list(read_chats(text)) == []
        return
    with pytest.raises(MemoryInvalidError, match=reason):
        list(read_chats(text))


def test_an_imported_chat_is_found_and_a_second_import_changes_nothing() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=HashEmbedder())
        told: list[tuple[int, int]] = []
        messages = [*read_chats(json.dumps(CHATGPT)), *read_chats(json.dumps(CLAUDE))]
        assert await chat.save_many(messages, on_progress=lambda *done: told.append(done)) == 5
        assert told == [(5, 5)]
        assert await chat.save_many(messages) == 0
        assert contents(await chat.search_messages("which flower?")) == ["What is this flower?"]
        assert await chat.messages("conv-2") == messages[2:]
        assert await chat.embed_pending() == 0

    asyncio.run(main())


def test_a_bad_message_among_many_stores_none() -> None:
    async def main() -> None:
        chat = ChatStorage(":memory:", embedder=HashEmbedder())
        good = list(read_chats(json.dumps(CLAUDE)))
        with pytest.raises(MemoryInvalidError):
            await chat.save_many([*good, good[0].model_copy(update={"id": "u9", "content": "a\0b"})])
        assert await chat.conversations() == []

    asyncio.run(main())
