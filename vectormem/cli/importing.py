"""The command `import`."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from vectormem.cli.formats import Format
from vectormem.cli.opening import chat_memory, opened_store, vector_memory
from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DEFAULT_KEY,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    MaxItemsOption,
)
from vectormem.cli.output import counted, print_json, print_line, shown
from vectormem.cli.progress import OnProgress, progress
from vectormem.cli.sources import size_of

if TYPE_CHECKING:
    from vectormem.cli.importer import Imported


def import_items(
    files: Annotated[list[str], typer.Argument(help="Files to read; - is standard input.", metavar="FILE")],
    format: Annotated[
        Format | None,
        typer.Option("--format", help="How to read the files, in place of a guess by suffix or first line."),
    ] = None,
    max_items: MaxItemsOption = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help=f"Put all items under this key. By default, that is the key in a JSONL line, else {DEFAULT_KEY}.",
        ),
    ] = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Store the items of files: JSONL from `export`, or plain text or Markdown, a paragraph an item.

    Chats become messages of the scope key --key, or global: a conversations.json of ChatGPT or Claude,
    or JSON lines with conversation_id, role and content.
    Items of JSONL lines keep their ids, times and order.
    What the memory holds already, by id or by text, is passed over:
    an import can be run again. A bad line ends it; what stands before is stored.
    The database file is created where it is missing.

    Example: vectormem import notes.md backup.jsonl --db agent.db
    """
    from vectormem.cli.importer import import_file

    sizes = list(map(size_of, files))
    total, before = sum(sizes) if all(sizes) else 0, 0
    results = []
    with opened_store(db, create=True) as store, progress("importing") as on_progress:
        model = embedder.load()
        memory = vector_memory(store, model, max_items=max_items)
        open_chats = partial(chat_memory, store, model)
        for name, size in zip(files, sizes, strict=True):
            advance = partial(_advance, on_progress, before, total)
            results.append(import_file(memory, open_chats, name, format, key, advance))
            before += size
    _report(results, as_json=as_json)


def _advance(on_progress: OnProgress, before: int, total: int, done: int) -> None:
    on_progress(before + done, total)


def _report(results: "list[Imported]", *, as_json: bool) -> None:
    read, imported = sum(one.read for one in results), sum(one.imported for one in results)
    if as_json:
        files = [vars(one) for one in results]
        print_json({"read": read, "imported": imported, "already_there": read - imported, "files": files})
        return
    for one in results:
        there = one.read - one.imported
        kind = "message" if one.format is Format.CHATS else "item"
        print_line(f"{shown(one.file)}: {counted(one.imported, kind)} imported, {there} already there")
