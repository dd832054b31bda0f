"""What erasing a scope key means, for every store."""

from collections.abc import Mapping
from typing import NamedTuple


class Erased(NamedTuple):
    """What was erased: items by memory key, chat messages, entries of the history, and what adapters keep.

    `others` counts items of sessions, messages of conversations, documents and checkpoints.
    """

    keys: Mapping[str, int]
    messages: int = 0
    history: int = 0
    others: int = 0


def is_of_scope(memory_key: str, scope_key: str) -> bool:
    """Whether a memory key is the scope key itself, or `<slot>#<scope key>`; slot names hold no `#`."""
    return memory_key == scope_key or memory_key.partition("#")[1:] == ("#", scope_key)
