"""The command `forget`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from vectormem.cli.opening import opened_store, plain_memory
from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DEFAULT_KEY,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    OptionalKeyOption,
)
from vectormem.cli.output import counted, note, print_json, print_line, shown
from vectormem.errors import MemoryInvalidError

if TYPE_CHECKING:
    from vectormem.sync import BlockingMemory


def forget(
    item_id: Annotated[str | None, typer.Argument(help="The id of the item to delete.", metavar="ID")] = None,
    all_items: Annotated[bool, typer.Option("--all", help="Delete all items of the key.")] = False,
    scope: Annotated[
        str | None,
        typer.Option("--scope", metavar="SCOPE_KEY", help="Delete all items of this scope in every slot."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --all or --scope.")] = False,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OptionalKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Delete an item by its id, all items of a memory, or those of a scope in every slot.

    --scope user:sam clears the keys SLOT#user:sam of all slots, and no other.
    On a terminal, --all and --scope ask first, unless there is --yes.
    In a script, where nobody can answer, they do not ask.

    Example: vectormem forget --scope user:sam --yes
    """
    if (item_id is not None) + all_items + (scope is not None) != 1:
        raise typer.BadParameter("give an ID, or --all, or --scope SCOPE_KEY: exactly one of the three")
    if scope is not None and key is not None:
        raise typer.BadParameter("--scope reaches into every slot, --key names one memory: give one of the two")
    own_key = DEFAULT_KEY if key is None else key
    with opened_store(db) as store:
        memory = plain_memory(store)
        if item_id is not None:
            forgotten = {own_key: _forget_one(memory, own_key, item_id)}
        else:
            keys = [own_key] if scope is None else _keys_of_scope(memory, scope)
            forgotten = _clear(memory, keys, ask=not yes)
    if as_json:
        print_json({"forgotten": sum(forgotten.values()), "keys": forgotten})
        return
    for cleared, count in forgotten.items():
        print_line(f"forgot {count} of {shown(cleared)}")
    if not forgotten:
        print_line(f"no memory has the scope {shown(str(scope))}; nothing was deleted")


def _forget_one(memory: "BlockingMemory", key: str, item_id: str) -> int:
    if not memory.remove(key, item_id):
        raise MemoryInvalidError(f"{key} holds no item with the id {item_id!r}; nothing was deleted")
    return 1


def _keys_of_scope(memory: "BlockingMemory", scope: str) -> list[str]:
    """Return the keys `<slot>#<scope>`; slot names hold no `#`, scope keys may."""
    return [key for key in memory.scope_keys() if key.partition("#")[1:] == ("#", scope)]


def _clear(memory: "BlockingMemory", keys: list[str], *, ask: bool) -> dict[str, int]:
    counts = {key: memory.count(key) for key in keys}
    if ask and sys.stdin.isatty() and any(counts.values()):
        for key, count in counts.items():
            note(f"{counted(count, 'item')} of {key}")
        typer.confirm("Delete them for good?", abort=True, err=True)
    return {key: memory.clear(key) for key in keys}
