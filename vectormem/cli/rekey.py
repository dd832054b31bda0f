"""The command `rekey`."""

from typing import Annotated

import typer

from vectormem.cli.opening import blocking_store, database_key
from vectormem.cli.options import DEFAULT_DATABASE, DatabaseOption, JsonOption
from vectormem.cli.output import print_json, print_line, shown
from vectormem.cli.place import file_of

_NEW_KEY = "VECTORMEM_NEW_DB_KEY"


def rekey(
    decrypt: Annotated[bool, typer.Option("--decrypt", help="Store the database unencrypted from now on.")] = False,
    db: DatabaseOption = DEFAULT_DATABASE,
    as_json: JsonOption = False,
) -> None:
    """Encrypt the database with another key, or with its first one.

    Keys come from the environment, where no list of processes shows them:
    VECTORMEM_DB_KEY is the key of the file, for all commands; without it
    the file is not encrypted. VECTORMEM_NEW_DB_KEY is the key to be.
    Nobody else may have the database open. Needs apsw-sqlite3mc.

    Example: vectormem rekey --db agent.db
    """
    new = database_key(_NEW_KEY)
    if (new is None) != decrypt:
        raise typer.BadParameter(f"set {_NEW_KEY} to the new key, or give --decrypt: exactly one of the two")
    with blocking_store(file_of(db, "rekey")) as store:
        store.rekey(new)
    if as_json:
        print_json({"path": db.shown, "encrypted": new is not None})
    else:
        print_line(f"{shown(db.shown)} is {'not encrypted any more' if new is None else 'encrypted with the new key'}")
