"""The rules of saving and deleting messages, as functions over the rows of a scope key."""

from collections.abc import Sequence
from typing import NamedTuple

from vectormem.errors import MemoryInvalidError
from vectormem.stores.chats import ChatRows, MessageDraft, StoredMessage


class Saved(NamedTuple):
    """A stored message, whether that changed anything, and the seqs of what may have to be embedded."""

    message: StoredMessage
    changed: bool
    seqs: list[int]


def save(rows: ChatRows, draft: MessageDraft, *, keeps_time: bool) -> Saved:
    """Store the draft; with `keeps_time`, its time gives way to that of a message it replaces or follows."""
    old = rows.get(draft.id)
    if old is not None and old.conversation != draft.conversation:
        raise MemoryInvalidError(
            f"a message with the id {draft.id!r} is stored in conversation {old.conversation!r}; "
            f"choose another id for the one of {draft.conversation!r}"
        )
    if old is not None and old.content == draft.content:
        return Saved(old, False, [old.seq])
    if old is None:
        message = rows.insert(_not_before_the_last(rows, draft) if keeps_time else draft)
    else:
        message = rows.replace(old, draft._replace(created_at=old.created_at) if keeps_time else draft)
    return Saved(message, True, [message.seq, *(one.seq for one in rows.after(message))])


def save_all(rows: ChatRows, drafts: Sequence[MessageDraft]) -> list[Saved]:
    """Store drafts in order, with the times that they have."""
    return [save(rows, draft, keeps_time=False) for draft in drafts]


def _not_before_the_last(rows: ChatRows, draft: MessageDraft) -> MessageDraft:
    """Keep the order of a conversation where the clock was set back."""
    last = max((one.created_at for one in rows.conversation(draft.conversation, 1)), default=draft.created_at)
    return draft._replace(created_at=max(draft.created_at, last))


def delete(rows: ChatRows, messages: Sequence[StoredMessage]) -> int:
    """Delete messages; return how many."""
    rows.delete(messages)
    return len(messages)


def around(rows: ChatRows, message: StoredMessage, count: int) -> list[StoredMessage]:
    """Return the message with so many before and after it in its conversation."""
    return [*rows.before(message, count), message, *rows.after(message, count)]
