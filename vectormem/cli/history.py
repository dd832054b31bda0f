"""The commands `history` and `undo`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vectormem.cli.item_view import timestamp
from vectormem.cli.opening import blocking_store, check_exists, database_key
from vectormem.cli.options import DEFAULT_DATABASE, DEFAULT_KEY, DatabaseOption, JsonOption, KeyOption, LimitOption
from vectormem.cli.output import counted, note, print_json, print_line, print_table, shown
from vectormem.cli.place import file_of

if TYPE_CHECKING:
    from vectormem.stores.sqlite.history import HistoryEntry

_OFF = "no history is kept in this file; `vectormem history --on` begins one"


def history(
    limit: LimitOption = None,
    switch: Annotated[
        bool | None,
        typer.Option("--on/--off", help="Keep what is changed in this file from now on; or stop, and delete it."),
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: KeyOption = DEFAULT_KEY,
    as_json: JsonOption = False,
) -> None:
    """Show what was added, replaced and removed in a memory, newest first, with the old texts.

    A file keeps no history until --on. Then programs that open it
    keep what they change, for 30 days and up to 10,000 items a key.
    In a pipe: time, number, action, item id, actor and old text between tabs.

    Example: vectormem history --key facts#user:sam --limit 20
    """
    path = file_of(db, "history")
    check_exists(path)
    if switch is not None:
        _switch(path, on=switch)
    with blocking_store(path) as store:
        entries = store.history(key, limit=limit)
        is_kept = store.target.recorded is not None
    if as_json:
        print_json({"key": key, "is_kept": is_kept, "entries": list(map(_document, entries))})
        return
    if not is_kept:
        note(_OFF)
    rows = [(_time(one), one.change, _action(one), one.item_id, one.actor or "-", one.text or "") for one in entries]
    print_table(("When", "Change", "What", "Id", "Who", "Old text"), rows)


def undo(
    change: Annotated[
        int | None, typer.Argument(help="The number of the change, as `history` shows it.", metavar="CHANGE", min=1)
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: KeyOption = DEFAULT_KEY,
    as_json: JsonOption = False,
) -> None:
    """Put back what a change of a memory removed, cleared or replaced; without a number, the last one.

    Items come back with their ids, times, places and vectors. An item
    whose text is stored under another id by now is passed over.

    Example: vectormem undo --key facts#user:sam
    """
    with blocking_store(file_of(db, "undo")) as store:
        undone = store.undo(key, change)
    if as_json:
        print_json({"key": key, **undone._asdict()})
        return
    skipped = f", {len(undone.skipped)} passed over" if undone.skipped else ""
    print_line(f"put back {counted(len(undone.restored), 'item')} of {shown(key)} (change {undone.change}){skipped}")


def _switch(path: Path, *, on: bool) -> None:
    from vectormem.stores.sqlite.store import SqliteStore

    SqliteStore(path, key=database_key(), history=on).close()


def _document(entry: "HistoryEntry") -> dict[str, Any]:
    return {
        **entry._asdict(),
        "at": timestamp(entry.at),
        "created_at": None if entry.created_at is None else timestamp(entry.created_at),
        "metadata": None if entry.metadata is None else json.loads(entry.metadata),
    }


def _time(entry: "HistoryEntry") -> str:
    return timestamp(entry.at.replace(microsecond=0))


def _action(entry: "HistoryEntry") -> str:
    return f"{entry.action} (undo)" if entry.by_undo else f"{entry.action} (undone)" if entry.undone else entry.action
