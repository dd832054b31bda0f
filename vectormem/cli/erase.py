"""The command `erase`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vectormem.cli.opening import blocking_store
from vectormem.cli.options import DEFAULT_DATABASE, DatabaseOption, JsonOption
from vectormem.cli.output import counted, print_json, print_line, shown
from vectormem.cli.place import file_of

if TYPE_CHECKING:
    from vectormem.stores.erasure import Erased


def erase(
    key: Annotated[
        str, typer.Argument(help="A scope key such as user:sam, or one memory as SLOT#SCOPE_KEY.", metavar="KEY")
    ],
    folder: Annotated[
        Path | None,
        typer.Option("--dir", metavar="FOLDER", help="Erase in the files of a FileMemory, in place of a database."),
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", min=0, metavar="SECONDS", help="Wait so long for readers and writers to end.")
    ] = 5.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask on a terminal.")] = False,
    db: DatabaseOption = DEFAULT_DATABASE,
    as_json: JsonOption = False,
) -> None:
    """Erase everything of a scope key for good, and look for it in the bytes of the files.

    KEY is a scope key: every memory KEY and SLOT#KEY goes, in all slots,
    with its vectors and its history, and the chats, sessions and
    conversations of KEY. A whole memory key, SLOT#SCOPE_KEY, means that
    memory alone. Of LangGraph, what stands in a namespace with the label
    KEY goes, and the thread whose id is KEY, or T where KEY is session:T.
    The exit status is 1 where old bytes are held back, as by an open
    reader, or were found: the message says where. Then run it again.

    Example: vectormem erase user:sam --db agent.db
    """
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Erase everything of {shown(key)} for good?", abort=True, err=True)
    erased = _in_database(file_of(db, "erase"), key, wait) if folder is None else _in_folder(folder, key)
    if as_json:
        print_json({"erased": sum(erased.keys.values()), **erased._asdict()})
        return
    for memory_key, count in erased.keys.items():
        print_line(f"erased {counted(count, 'item')} of {shown(memory_key)}")
    if erased.messages:
        print_line(f"erased {counted(erased.messages, 'chat message')} of {shown(key)}")
    if erased.others:
        print_line(f"erased {counted(erased.others, 'further row')} of {shown(key)}")
    if not any((erased.keys, erased.messages, erased.others)):
        print_line(f"nothing of {shown(key)} is stored; what was deleted before is overwritten")


def _in_database(path: Path, key: str, wait: float) -> "Erased":
    with blocking_store(path) as store:
        return store.erase(key, wait_seconds=wait)


def _in_folder(folder: Path, key: str) -> "Erased":
    from vectormem.errors import StorageFailedError
    from vectormem.providers.builtin import FileMemory
    from vectormem.sync import blocking

    if not folder.is_dir():
        raise StorageFailedError(f"there is no folder {folder}")
    return blocking(FileMemory(folder)).erase(key)
