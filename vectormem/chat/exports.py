"""Reading chats that other programs have exported: ChatGPT, Claude, and messages as JSON lines."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from vectormem.chat.messages import Message
from vectormem.errors import MemoryInvalidError
from vectormem.items import Moment
from vectormem.origin import new_uuid, utc_now

_ROLES = {"user": "user", "human": "user", "assistant": "assistant"}


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    conversation_id: str
    role: str
    content: str
    id: str | None = None
    created_at: Moment | None = None
    metadata: dict[str, JsonValue] | None = None


def read_chats(text: str) -> Iterator[Message]:
    """Yield the messages of an export, each conversation in its order.

    `text` is a `conversations.json` of ChatGPT or Claude, or JSON lines with `conversation_id`, `role`,
    `content` and, if known, `id`, `created_at` and `metadata`. Of ChatGPT's, the branch that was shown
    last is read; of both, what users and assistants wrote, without tool calls, attachments and images.
    Raises MemoryInvalidError for anything else, naming the line or conversation.
    """
    if text.lstrip().startswith("["):
        yield from _conversations(_parsed(text, "the file"))
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _message_of_line(line, number)


def _conversations(found: Any) -> Iterator[Message]:
    for number, conversation in enumerate(found, 1):
        read = _reader(conversation)
        if read is None:
            raise MemoryInvalidError(
                f"conversation {number} is neither of ChatGPT (no `mapping`) nor of Claude (no `chat_messages`)"
            )
        try:
            yield from read(conversation)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise MemoryInvalidError(f"conversation {number} is not as expected: {error!r}") from error


def _reader(conversation: Any) -> Any:
    readers = {"mapping": _of_chatgpt, "chat_messages": _of_claude}
    names = conversation if isinstance(conversation, Mapping) else ()
    return next((read for name, read in readers.items() if name in names), None)


def _of_chatgpt(conversation: Mapping[str, Any]) -> Iterator[Message]:
    """Read one conversation: its messages form a tree, of which `current_node` names the leaf shown last."""
    nodes: dict[str, Any] = conversation["mapping"]
    leaf = str(conversation.get("current_node") or _last_leaf(nodes))
    branch: dict[str, Any] = {}
    while leaf in nodes and leaf not in branch:
        branch[leaf] = nodes[leaf].get("message")
        leaf = str(nodes[leaf].get("parent"))
    moment = float(conversation.get("create_time") or 0)
    for name, message in reversed(branch.items()):
        role = _ROLES.get(message["author"]["role"]) if message else None
        content = _chatgpt_text(message) if role else ""
        if role and content:
            moment = max(moment, float(message.get("create_time") or 0))
            yield Message(
                id=message.get("id") or name,
                conversation_id=conversation.get("conversation_id") or conversation["id"],
                role=role,
                content=content,
                created_at=datetime.fromtimestamp(moment, UTC),
                metadata=_titled(conversation.get("title")),
            )


def _last_leaf(nodes: dict[str, Any]) -> str | None:
    return next((name for name in reversed(nodes) if not nodes[name].get("children")), None)


def _chatgpt_text(message: Mapping[str, Any]) -> str:
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    content = message.get("content") or {}
    if hidden or content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    return "\n".join(part for part in content.get("parts") or () if isinstance(part, str) and part.strip())


def _of_claude(conversation: Mapping[str, Any]) -> Iterator[Message]:
    for message in conversation["chat_messages"]:
        role = _ROLES.get(message["sender"])
        content = _claude_text(message) if role else ""
        if role and content:
            yield Message(
                id=message["uuid"],
                conversation_id=conversation["uuid"],
                role=role,
                content=content,
                created_at=_aware(message.get("created_at") or conversation["created_at"]),
                metadata=_titled(conversation.get("name")),
            )


def _claude_text(message: Mapping[str, Any]) -> str:
    blocks = [block for block in message.get("content") or () if block.get("type") == "text"]
    texts = [block.get("text") or "" for block in blocks] or [message.get("text") or ""]
    return "\n".join(text for text in texts if text.strip())


def _aware(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _titled(title: object) -> dict[str, JsonValue] | None:
    return {"title": title} if isinstance(title, str) and title else None


def _message_of_line(line: str, number: int) -> Message:
    _parsed(line, f"line {number}")
    try:
        given = _Line.model_validate_json(line)
    except ValidationError as error:
        reasons = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
        raise MemoryInvalidError(f"line {number}: {'; '.join(reasons)}") from error
    return Message(
        id=given.id or new_uuid(),
        conversation_id=given.conversation_id,
        role=given.role,
        content=given.content,
        created_at=given.created_at or utc_now(),
        metadata=given.metadata,
    )


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MemoryInvalidError(f"{what} is not valid JSON: {error}") from error
