"""The kinds of files that `import` reads."""

from enum import StrEnum
from pathlib import PurePath


class Format(StrEnum):
    """How a file is read."""

    JSONL = "jsonl"
    TEXT = "text"
    MARKDOWN = "markdown"


_SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".txt": Format.TEXT,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
}


def guess_format(name: str, first_line: bytes) -> Format:
    """Go by the suffix; without a known one, a first line that starts a JSON object tells."""
    by_first_line = Format.JSONL if first_line.lstrip().startswith(b"{") else Format.TEXT
    return _SUFFIXES.get(PurePath(name).suffix.lower(), by_first_line)
