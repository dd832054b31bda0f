"""The commands `backup` and `restore`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vectormem.cli.opening import blocking_store, database_key
from vectormem.cli.options import DEFAULT_DATABASE, DatabaseOption, JsonOption
from vectormem.cli.output import counted, print_json, print_line, print_table, shown
from vectormem.cli.place import file_of
from vectormem.cli.progress import progress

if TYPE_CHECKING:
    from vectormem.stores.sqlite.backup import Snapshot

File = Annotated[Path, typer.Argument(help="The file of the backup.", metavar="FILE")]


def backup(
    file: File,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE where it exists.")] = False,
    db: DatabaseOption = DEFAULT_DATABASE,
    as_json: JsonOption = False,
) -> None:
    """Copy the database to a file while others read and write it.

    The copy is one state of the database as a whole, checked for damage
    and readable by its owner alone. FILE is there complete or not at all.

    Example: vectormem backup monday.db --db agent.db
    """
    with blocking_store(file_of(db, "backup")) as store, progress("copying") as on_progress:
        snapshot = store.backup(file, overwrite=overwrite, on_progress=on_progress)
    _report(snapshot, f"backed up to {shown(str(file))}", as_json=as_json)


def restore(
    file: File,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace all that the database holds, where it exists.")
    ] = False,
    db: DatabaseOption = DEFAULT_DATABASE,
    as_json: JsonOption = False,
) -> None:
    """Make a database of a backup, or put the backup in place of all that a database holds.

    The backup is checked for damage first. The change is one transaction:
    programs that have the database open see it. What was written
    after the backup is lost.

    Example: vectormem restore monday.db --db agent.db --overwrite
    """
    from vectormem.stores.sqlite.encryption import checked_key
    from vectormem.stores.sqlite.restore import restore as restore_file

    secret, target = checked_key(database_key()), file_of(db, "restore").absolute()
    with progress("copying") as on_progress:
        snapshot = restore_file(file.absolute(), target, secret, overwrite=overwrite, on_progress=on_progress)
    _report(snapshot, f"restored {shown(db.shown)}", as_json=as_json)


def _report(snapshot: "Snapshot", done: str, *, as_json: bool) -> None:
    items = sum(snapshot.keys.values())
    if as_json:
        print_json({**snapshot._asdict(), "items": items})
        return
    print_table(("Key", "Items"), list(snapshot.keys.items()))
    messages = f", {counted(snapshot.messages, 'chat message')}" if snapshot.messages else ""
    print_line(f"{done}: {counted(items, 'item')}{messages}, {snapshot.bytes:,} bytes, no damage found")
