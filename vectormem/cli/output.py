"""What commands print: JSON documents, plain lines or tables, and notes on standard error."""

import functools
import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import typer

from vectormem.errors import VectorMemError

P = ParamSpec("P")
R = TypeVar("R")

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Controls, terminal escapes, line separators and invisible marks that reorder or hide text."""


def shown(text: str) -> str:
    """Return untrusted text on one line, with what could act on a terminal escaped."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON that can do nothing to a terminal; non-ASCII text stays where standard output can hold it."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    return _UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text)


def print_json(document: object) -> None:
    """Print the one JSON document of a command."""
    print_line(to_json(document, indent=2))
    sys.stdout.flush()


def print_line(line: str = "") -> None:
    """Print a line, of which the untrusted parts are escaped already, on standard output."""
    sys.stdout.write(f"{line}\n")


def note(message: str) -> None:
    """Print a remark on standard error."""
    sys.stderr.write(f"{shown(message)}\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table on a terminal, and lines of tab-separated cells without a heading elsewhere."""
    cells = [[shown(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print_line("\t".join(row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column, cell in zip(table.columns, rows[0] if rows else (), strict=False):
        column.justify, column.overflow = ("right" if isinstance(cell, int) else "left"), "fold"
    for row in cells:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)


def reported(command: Callable[P, R]) -> Callable[P, R]:
    """Let a command that fails print why, without a traceback, and end with status 1."""

    @functools.wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> R:
        try:
            try:
                return command(*args, **options)
            finally:
                sys.stdout.flush()  # a closed pipe has to show here, not when the interpreter ends
        except BrokenPipeError:
            raise
        except (VectorMemError, OSError) as error:
            _print_error(error, as_json=bool(options.get("as_json")))
            raise typer.Exit(1) from error

    return run


def _print_error(error: VectorMemError | OSError, *, as_json: bool) -> None:
    if isinstance(error, VectorMemError):
        code, message = error.code, str(error)
    else:
        code, message = "OS_ERROR", f"{error.filename}: {error.strerror}" if error.filename else str(error)
    note(f"error: {message}")
    if as_json:
        print_json({"error": {"code": code, "message": message}})
