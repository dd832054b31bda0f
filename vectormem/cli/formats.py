"""The kinds of files that `import` reads."""

import json
from enum import StrEnum
from pathlib import PurePath


class Format(StrEnum):
    """How a file is read."""

    JSONL = "jsonl"
    TEXT = "text"
    MARKDOWN = "markdown"
    CHATS = "chats"


_SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".txt": Format.TEXT,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
}


def guess_format(name: str, first_line: bytes) -> Format:
    """Go by the suffix; without a known one, a first line that starts a JSON object tells.

    A JSON array, and JSON lines of which the first has a role, are chats.
    """
    suffix, start = PurePath(name).suffix.lower(), first_line.lstrip()
    if suffix == ".json" and start.startswith(b"["):
        return Format.CHATS
    by_first_line = Format.JSONL if start.startswith(b"{") else Format.TEXT
    guess = _SUFFIXES.get(suffix, by_first_line)
    return Format.CHATS if guess is Format.JSONL and _has_role(first_line) else guess


def _has_role(line: bytes) -> bool:
    try:
        found = json.loads(line)
    except ValueError:
        return False
    return isinstance(found, dict) and "role" in found
