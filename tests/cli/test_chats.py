"""Chats come in through `import`."""

import json

import pytest

from tests.chat.test_exports import CHATGPT, CLAUDE
from vectormem import ChatStorage, blocking
from vectormem.testing import HashEmbedder


@pytest.fixture
def chat():
    opened = []

    def open_chat(scope_key="global"):
        opened.append(blocking(ChatStorage("vectormem.db", embedder=HashEmbedder(), scope_key=scope_key)))
        return opened[-1]

    yield open_chat
    for one in opened:
        one.close()


@pytest.mark.parametrize(("export", "conversation", "count"), [(CHATGPT, "conv-1", 2), (CLAUDE, "conv-2", 3)])
@pytest.mark.parametrize("indent", [None, 2])
def test_conversations_of_chatgpt_and_claude_are_imported(run, chat, folder, export, conversation, count, indent):
    (folder / "conversations.json").write_text(json.dumps(export, indent=indent), "utf-8")
    result = run("import", "conversations.json")
    assert result.exit_code == 0
    assert result.stdout == f"conversations.json: {count} messages imported, 0 already there\n"
    assert len(chat().messages(conversation)) == count


def test_json_lines_with_roles_are_chats(run_json, chat, folder):
    lines = [
        {"conversation_id": "c", "role": "user", "content": f"the tea of day {day}", "id": f"m{day}"}
        for day in range(3)
    ]
    (folder / "chat.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    document = run_json("import", "chat.jsonl", "--key", "user:ada")
    assert (document["read"], document["imported"], document["files"][0]["format"]) == (3, 3, "chats")
    assert run_json("import", "chat.jsonl", "--key", "user:ada")["imported"] == 0
    assert [match.message.id for match in chat("user:ada").search_messages("tea", limit=1)] == ["m2"]
    assert chat().conversations() == []


def test_the_format_can_be_named_for_standard_input(run, chat):
    assert run("import", "-", "--format", "chats", input=json.dumps(CLAUDE)).exit_code == 0
    assert len(chat().messages("conv-2")) == 3


def test_a_file_that_is_no_chat_is_refused_and_named(run, folder):
    (folder / "other.json").write_text('[{"a": 1}]', "utf-8")
    result = run("import", "other.json")
    assert result.exit_code == 1
    assert "other.json: conversation 1 is neither of ChatGPT" in result.stderr
