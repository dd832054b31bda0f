"""The import of chats: a file is read as a whole, then its messages are stored."""

from collections.abc import Callable
from typing import TypeAlias

from vectormem.chat.exports import read_chats
from vectormem.chat.messages import Message
from vectormem.cli.sources import Source
from vectormem.errors import MemoryInvalidError
from vectormem.sync import BlockingChat

DEFAULT_SCOPE_KEY = "global"

OpenChats: TypeAlias = Callable[[str], BlockingChat]


def import_chats(open_chats: OpenChats, source: Source, scope_key: str | None) -> tuple[int, int]:
    """Store the messages of a file; return how many it has, and how many were new."""
    messages = _messages(source)
    chat = open_chats(DEFAULT_SCOPE_KEY if scope_key is None else scope_key)
    return len(messages), chat.save_many(messages)


def _messages(source: Source) -> list[Message]:
    try:
        return list(read_chats("\n".join(source)))
    except MemoryInvalidError as error:
        raise MemoryInvalidError(f"{source.name}: {error}") from error
