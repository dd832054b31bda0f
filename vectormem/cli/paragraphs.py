"""Plain text and Markdown as items: a paragraph an item."""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from vectormem.cli.jsonl import Record, new_item
from vectormem.cli.sources import Source
from vectormem.errors import MemoryInvalidError

_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)(\s+#+)?\s*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*")
_BREAK = re.compile(r" {0,3}([-*_]\s*){3,}")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def read_text(source: Source) -> Iterator[Record]:
    """Yield the paragraphs of a plain text, which blank lines separate."""
    lines: list[str] = []
    for line in source:
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield _record(source, lines, source.line - len(lines))
            lines = []
    if lines:
        yield _record(source, lines, source.line - len(lines) + 1)


def read_markdown(source: Source) -> Iterator[Record]:
    """Yield the paragraphs of a Markdown text; fenced code stays whole.

    A heading is no item: the items below it carry it as their metadata `heading`.
    """
    heading = ""
    for start, lines in _blocks(source):
        if (title := _title(lines)) is not None:
            heading = title
        elif len(lines) > 1 or not _BREAK.fullmatch(lines[0]):
            yield _record(source, lines, start, {"heading": heading} if heading else None)


def _record(source: Source, lines: list[str], start: int, metadata: dict[str, JsonValue] | None = None) -> Record:
    try:
        return Record(None, new_item("\n".join(lines), metadata))
    except MemoryInvalidError as error:
        raise source.error(error, start) from error


def _blocks(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the headings and the runs of lines between blank lines, each with the number of its first line."""
    lines: list[str] = []
    fence = ""
    for line in source:
        in_code = bool(fence)
        fence = _fence_after(line, fence)
        is_heading = not in_code and bool(_HEADING.fullmatch(line))
        if lines and not in_code and (is_heading or not line.strip()):
            yield source.line - len(lines), lines
            lines = []
        if in_code or line.strip():
            lines.append(line.rstrip())
        if is_heading or (len(lines) > 1 and not in_code and _UNDERLINE.fullmatch(line)):
            yield source.line - len(lines) + 1, lines
            lines = []
    if lines:
        yield source.line - len(lines) + 1, lines


def _title(lines: list[str]) -> str | None:
    if len(lines) == 1:
        found = _HEADING.fullmatch(lines[0])
        return found[1] if found else None
    return " ".join(map(str.strip, lines[:-1])) if _UNDERLINE.fullmatch(lines[-1]) else None


def _fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after this line, or "" outside fenced code."""
    if not fence:
        found = _FENCE.match(line)
        return found[1] if found else ""
    mark = line.strip()
    return "" if mark.startswith(fence) and set(mark) == {fence[0]} else fence
