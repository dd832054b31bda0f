"""What chats are made of, as callers see it."""

import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, JsonValue

from vectormem.stores.chats import ChatHit, StoredConversation, StoredMessage
from vectormem.stores.rows import from_microseconds


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(_Frozen):
    """One stored message; `created_at` is aware and in UTC."""

    id: str
    conversation_id: str
    role: str
    content: str
    created_at: datetime
    metadata: dict[str, JsonValue] | None = None


class MessageMatch(_Frozen):
    """A message that a search found.

    `similarity` is the cosine of the query and the message's best passage, and None where nothing was
    compared: with `ranking="keyword"`, and for a message that hybrid ranking admits by a rare word and that
    has no vector. `text` is the passage that matched: the whole content, unless that is long. `context`
    holds the messages around it, in order and itself among them, where they were asked for.
    """

    message: Message
    similarity: float | None
    text: str
    context: list[Message] = []


class ConversationSummary(_Frozen):
    """A conversation: its id, how many messages it has, and the times of the first and the last."""

    id: str
    messages: int
    first_at: datetime
    last_at: datetime


def message_of(stored: StoredMessage) -> Message:
    """Return the message of a row."""
    return Message(
        id=stored.id,
        conversation_id=stored.conversation,
        role=stored.role,
        content=stored.content,
        created_at=from_microseconds(stored.created_at),
        metadata=None if stored.metadata is None else json.loads(stored.metadata),
    )


def summary_of(stored: StoredConversation) -> ConversationSummary:
    """Return the summary of a conversation."""
    first, last = from_microseconds(stored.first), from_microseconds(stored.last)
    return ConversationSummary(id=stored.id, messages=stored.messages, first_at=first, last_at=last)


def match_of(hit: ChatHit, context: Sequence[StoredMessage]) -> MessageMatch:
    """Return the match of a hit, with the messages around it."""
    return MessageMatch(
        message=message_of(hit.message),
        similarity=hit.similarity,
        text=hit.message.content[hit.start : hit.end],
        context=list(map(message_of, context)),
    )
