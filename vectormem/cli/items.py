"""The commands `add`, `list` and `search`."""

import uuid
from shlex import quote
from typing import Annotated, Any

import typer

from vectormem.cli.inspection import inspect
from vectormem.cli.item_view import item_document, print_items
from vectormem.cli.opening import opened_store, plain_memory, vector_memory
from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DEFAULT_KEY,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    KeyOption,
    LimitOption,
    MaxItemsOption,
)
from vectormem.cli.output import note, print_json, print_line, shown
from vectormem.cli.skipped import Skipped, find_skipped, heard_warnings
from vectormem.cli.sources import stdin_text


def _parse_metadata(text: str) -> dict[str, Any]:
    from vectormem.canonical import parse_json

    try:
        metadata = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"not valid JSON: {error}") from error
    if not isinstance(metadata, dict):
        raise typer.BadParameter(f'must be a JSON object such as {{"topic": "tea"}}, not {text!r}')
    return metadata


Metadata = Annotated[
    Any,
    typer.Option("--metadata", parser=_parse_metadata, metavar="JSON", help="A JSON object to keep with it."),
]


def add(
    text: Annotated[str, typer.Argument(help="The text to remember; - reads it from standard input.", metavar="TEXT")],
    metadata: Metadata = None,
    max_items: MaxItemsOption = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: KeyOption = DEFAULT_KEY,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Store an item. A text that the memory holds already is kept as it is.

    The database file is created where it is missing.

    Example: vectormem add "The user is vegetarian." --key facts#user:sam
    """
    wanted = stdin_text() if text == "-" else text
    new_id = str(uuid.uuid4())
    with opened_store(db, create=True) as store:
        memory = vector_memory(store, embedder.load(), max_items=max_items, new_id=lambda: new_id)
        item = memory.add(key, wanted, metadata=metadata)
    added = item.id == new_id
    if as_json:
        print_json({"key": key, "added": added, **item_document(item)})
    else:
        print_line(f"{'added' if added else 'already there'}: {shown(item.id)}")


def list_items(
    limit: LimitOption = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: KeyOption = DEFAULT_KEY,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Show the items of a memory, newest first.

    In a pipe: one line an item, with time, id and text between tabs.

    Example: vectormem list --limit 20 --key facts#user:sam
    """
    with opened_store(db) as store:
        items = plain_memory(store).list(key, limit=limit)
    if as_json:
        print_json({"key": key, "items": [item_document(item) for item in items]})
    else:
        print_items(items)


def search(
    query: Annotated[str, typer.Argument(help="What to look for.", metavar="QUERY")],
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="Show N items at most.")] = 10,
    min_score: Annotated[
        float,
        typer.Option("--min-score", min=-1, max=1, metavar="S", help="Leave out items below this score."),
    ] = 0.2,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: KeyOption = DEFAULT_KEY,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Find the items closest in meaning to a query, best first.

    The score is the cosine similarity, 1 for the same meaning.
    In a pipe: one line an item, with score, time, id and text between tabs.

    Example: vectormem search "what does the user eat?" --min-score 0.3
    """
    if not query.strip():
        raise typer.BadParameter("must not be blank; `vectormem list` shows all items", param_hint="QUERY")
    loaded = embedder.load()
    with opened_store(db) as store, heard_warnings() as warnings:
        items = vector_memory(store, loaded, min_score=min_score).list(key, limit=limit, query=query)
        skipped = inspect(store, lambda tables: find_skipped(tables, key, loaded)) if warnings else Skipped()
    if skipped.items:
        note(skipped.explain(f"--db {quote(db.shown)} --key {quote(key)} --embedder {quote(embedder.spec)}"))
    if as_json:
        shown_items = [item_document(item, with_score=True) for item in items]
        print_json({"key": key, "query": query, "items": shown_items, "skipped": skipped.items})
    else:
        print_items(items, with_score=True)
