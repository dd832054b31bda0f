"""The command `copy`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from vectormem.cli.opening import opened_store
from vectormem.cli.options import JsonOption
from vectormem.cli.output import counted, print_json, print_line
from vectormem.cli.place import Place, parse_place
from vectormem.cli.progress import OnProgress, progress

if TYPE_CHECKING:
    from vectormem.stores.chats import ChatStore
    from vectormem.stores.copying import Copied
    from vectormem.stores.rows import ItemStore

    End: TypeAlias = tuple[ItemStore, ChatStore]


def copy(
    source: Annotated[str, typer.Argument(help="The database to read: a file, or a DSN of Postgres.", metavar="FROM")],
    target: Annotated[str, typer.Argument(help="The database to copy to; a file is created.", metavar="TO")],
    as_json: JsonOption = False,
) -> None:
    """Copy all items and chats from one database to another, in either direction between SQLite and Postgres.

    Ids, times, order and vectors are kept; nothing is embedded.
    What the other database holds already is passed over: an interrupted copy is run again.
    Each batch is read back from there before the next one.

    Example: vectormem copy agent.db postgresql://agent@db.example.com/agents
    """
    if source == target:
        raise typer.BadParameter("FROM and TO are the same database")
    places = parse_place(source), parse_place(target)
    with _opened(places[0]) as one, _opened(places[1], create=True) as other, progress("copying") as on_progress:
        copied_items, copied_chats = asyncio.run(_copy(one, other, on_progress))
    if as_json:
        print_json({"items": copied_items._asdict(), "messages": copied_chats._asdict()})
    else:
        print_line(_summary("item", copied_items))
        print_line(_summary("message", copied_chats))


async def _copy(source: "End", target: "End", on_progress: OnProgress) -> "tuple[Copied, Copied]":
    from vectormem.stores.chat_copying import copy_chats
    from vectormem.stores.copying import copy_items

    items = await copy_items(source[0], target[0], on_progress)
    return items, await copy_chats(source[1], target[1], on_progress)


@contextmanager
def _opened(place: Place, *, create: bool = False) -> "Iterator[End]":
    with opened_store(place, create=create) as store:
        from vectormem.stores.postgres.store import PostgresStore

        if isinstance(store, PostgresStore):
            from vectormem.stores.postgres.chats import PostgresChats
            from vectormem.stores.postgres.items import PostgresItems

            yield PostgresItems(store, owned=False), PostgresChats(store, owned=False)
        else:
            from vectormem.stores.sqlite.chats import SqliteChats
            from vectormem.stores.sqlite.items import SqliteItems

            yield SqliteItems(store, owned=False), SqliteChats(store, owned=False)


def _summary(name: str, copied: "Copied") -> str:
    there = copied.read - copied.copied
    return f"copied {counted(copied.copied, name)}, {there} of {copied.read} were there already"
