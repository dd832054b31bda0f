"""The command `export`."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from vectormem.cli.inspection import ExportedRow, export_rows
from vectormem.cli.opening import opened_store
from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DEFAULT_KEY,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    OptionalKeyOption,
)
from vectormem.cli.output import counted, print_json, print_line, shown, to_json


def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to this file, readable by its owner alone."),
    ] = None,
    all_keys: Annotated[bool, typer.Option("--all-keys", help="Export all memories of the file.")] = False,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OptionalKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Write the items of a memory as JSONL, oldest first: one object a line, as `import` reads it.

    Members of a line: key, id, text, created_at, metadata.
    Vectors are left out, `import` makes them anew.
    With --json: a document with the list `items` in place of lines.

    Example: vectormem export --all-keys --output backup.jsonl
    """
    if all_keys and key is not None:
        raise typer.BadParameter("--all-keys takes all memories, --key names one: give one of the two")
    chosen = None if all_keys else DEFAULT_KEY if key is None else key
    with opened_store(db) as store:
        if output is not None:
            count = export_rows(store, chosen, lambda rows: _write_file(rows, output))
        else:
            export_rows(store, chosen, lambda rows: _write_stdout(rows, as_json=as_json))
    if output is not None and as_json:
        print_json({"exported": count, "path": str(output)})
    elif output is not None:
        print_line(f"exported {counted(count, 'item')} to {shown(str(output))}")


def _write_stdout(rows: Iterator[ExportedRow], *, as_json: bool) -> None:
    documents = _documents(rows)
    if as_json:
        print_json({"items": list(documents)})
        return
    for document in documents:
        print_line(to_json(document))


def _write_file(rows: Iterator[ExportedRow], path: Path) -> int:
    count = 0
    with replacing(path) as file:
        for document in _documents(rows):
            file.write(f"{to_json(document)}\n")
            count += 1
    return count


def _documents(rows: Iterator[ExportedRow]) -> Iterator[dict[str, Any]]:
    from vectormem.cli.jsonl import exported

    return map(exported, rows)


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """Write a file beside `path`, private to its owner, that takes its place when all is written."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
