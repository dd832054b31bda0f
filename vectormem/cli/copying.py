"""The command `copy`."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from vectormem.cli.exporting import replacing
from vectormem.cli.inspection import all_keys, inspect
from vectormem.cli.opening import opened_store
from vectormem.cli.options import JsonOption
from vectormem.cli.output import counted, print_json, print_line, to_json
from vectormem.cli.place import FilePlace, Place, parse_place
from vectormem.cli.progress import OnProgress, progress
from vectormem.cli.sources import opened_source, size_of

if TYPE_CHECKING:
    from vectormem.stores.chat_copying import MessageBatch
    from vectormem.stores.chats import ChatStore
    from vectormem.stores.copying import Copied, ItemBatch
    from vectormem.stores.rows import ItemStore

    Pair: TypeAlias = tuple[Copied, Copied]
    Batch: TypeAlias = ItemBatch | MessageBatch


class End(NamedTuple):
    """An open database, and the keys that it has or had."""

    items: "ItemStore"
    chats: "ChatStore"
    keys: list[str]


def copy(
    source: Annotated[
        str, typer.Argument(help="What to read: a database file, a DSN of Postgres, or NAME.jsonl.", metavar="FROM")
    ],
    target: Annotated[
        str, typer.Argument(help="What to copy to, likewise; a file is created, NAME.jsonl replaced.", metavar="TO")
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key", metavar="KEY", help="Copy the items of this memory alone, and no chats; may be repeated."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy all items and chats from one database to another: SQLite, Postgres, or lines of JSON.

    Ids, times, order and vectors are kept; nothing is embedded.
    What the other database holds already is passed over: an interrupted copy is run again.
    Each batch is read back from there before the next one.

    Example: vectormem copy agent.db postgresql://agent@db.example.com/agents
    """
    if source == target:
        raise typer.BadParameter("FROM and TO are the same database")
    places = parse_place(source), parse_place(target)
    if all(map(_is_lines, places)):
        raise typer.BadParameter("FROM and TO are both files of JSON lines; one must be a database")
    with progress("copying") as on_progress:
        copied_items, copied_chats = _copy(*places, key, on_progress)
    if as_json:
        print_json({"items": copied_items._asdict(), "messages": copied_chats._asdict()})
    else:
        print_line(_summary("item", copied_items))
        print_line(_summary("message", copied_chats))


def _copy(source: Place, target: Place, keys: list[str] | None, on_progress: OnProgress) -> "Pair":
    if isinstance(target, FilePlace) and _is_lines(target):
        with _opened(source) as end:
            return asyncio.run(_write(end, target.path, keys, on_progress))
    if isinstance(source, FilePlace) and _is_lines(source):
        with source.path.open("rb"), _opened(target, create=True) as end:  # a missing file leaves no database behind
            return asyncio.run(_read(source.path, end, keys, on_progress))
    with _opened(source) as one, _opened(target, create=True) as other:
        return asyncio.run(_between(one, other, keys, on_progress))


async def _between(source: End, target: End, keys: list[str] | None, on_progress: OnProgress) -> "Pair":
    from vectormem.stores.chat_copying import copy_chats
    from vectormem.stores.copying import Copied, copy_items

    items = await copy_items(source.items, target.items, on_progress, keys=keys or source.keys)
    return items, Copied(0, 0) if keys else await copy_chats(source.chats, target.chats, on_progress)


async def _write(source: End, path: Path, keys: list[str] | None, on_progress: OnProgress) -> "Pair":
    """Write everything to a file that takes its place when it is whole."""
    from vectormem.cli.copy_lines import lines_of
    from vectormem.stores.copying import Copied

    items = messages = 0
    with replacing(path) as file:
        async for batch in _batches(source, keys):
            file.writelines(f"{to_json(line)}\n" for line in lines_of(batch))
            items, messages = items + _items_in(batch), messages + _messages_in(batch)
            on_progress(items + messages, 0)
    return Copied(items, items), Copied(messages, messages)


async def _batches(source: End, keys: list[str] | None) -> "AsyncIterator[Batch]":
    from vectormem.stores.chat_copying import message_batches
    from vectormem.stores.copying import item_batches

    async for batch in item_batches(source.items, keys or source.keys):
        yield batch
    if not keys:
        async for messages in message_batches(source.chats):
            yield messages


async def _read(path: Path, target: End, keys: list[str] | None, on_progress: OnProgress) -> "Pair":
    from vectormem.cli.copy_lines import read_batches
    from vectormem.stores.chat_copying import put_messages
    from vectormem.stores.copying import Copied, ItemBatch, put_items

    items = messages = copied_items = copied_messages = 0
    size = size_of(str(path))
    with opened_source(str(path)) as source:
        for batch in read_batches(source):
            if isinstance(batch, ItemBatch):
                if not keys or batch.key in keys:
                    items, copied_items = items + _items_in(batch), copied_items + await put_items(target.items, batch)
            elif not keys:
                messages += _messages_in(batch)
                copied_messages += await put_messages(target.chats, batch)
            on_progress(source.bytes_read, size)
    return Copied(items, copied_items), Copied(messages, copied_messages)


def _items_in(batch: "Batch") -> int:
    return len(getattr(batch, "rows", ()))


def _messages_in(batch: "Batch") -> int:
    return len(getattr(batch, "messages", ()))


def _is_lines(place: Place) -> bool:
    return isinstance(place, FilePlace) and place.path.suffix.lower() in (".jsonl", ".ndjson")


@contextmanager
def _opened(place: Place, *, create: bool = False) -> Iterator[End]:
    with opened_store(place, create=create) as store:
        from vectormem.stores.postgres.store import PostgresStore

        keys = inspect(store, all_keys)
        if isinstance(store, PostgresStore):
            from vectormem.stores.postgres.chats import PostgresChats
            from vectormem.stores.postgres.items import PostgresItems

            yield End(PostgresItems(store, owned=False), PostgresChats(store, owned=False), keys)
        else:
            from vectormem.stores.sqlite.chats import SqliteChats
            from vectormem.stores.sqlite.items import SqliteItems

            yield End(SqliteItems(store, owned=False), SqliteChats(store, owned=False), keys)


def _summary(name: str, copied: "Copied") -> str:
    there = copied.read - copied.copied
    return f"copied {counted(copied.copied, name)}, {there} of {copied.read} were there already"
