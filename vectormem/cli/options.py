"""The options that all commands share."""

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from vectormem.cli.embedder import GRAMMAR, EmbedderChoice, parse_embedder

DEFAULT_DATABASE = Path("vectormem.db")
DEFAULT_KEY = "memory#global"
DEFAULT_EMBEDDER: Any = "hash"  # the option parses it


def check_database(path: Path | None) -> Path | None:
    """Refuse what would keep nothing."""
    if path is not None and str(path) == ":memory:":
        raise typer.BadParameter("a database in memory would be gone when the command ends; name a file")
    return path


DatabaseOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--db",
        envvar="VECTORMEM_DB",
        metavar="FILE",
        callback=check_database,
        help="The database file to use.",
    ),
]
KeyOption: TypeAlias = Annotated[
    str,
    typer.Option("--key", metavar="KEY", help="The memory to use, as SLOT#SCOPE_KEY."),
]
OptionalKeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", show_default=DEFAULT_KEY, help="The memory to use, as SLOT#SCOPE_KEY."),
]
OnlyKeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="Only this memory, SLOT#SCOPE_KEY, in place of all."),
]
EmbedderOption: TypeAlias = Annotated[
    EmbedderChoice,
    typer.Option(
        "--embedder",
        parser=parse_embedder,
        metavar="EMBEDDER",
        help=f"What turns texts into vectors: {GRAMMAR}.",
    ),
]
MaxItemsOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-items", min=1, metavar="N", help="Keep the newest N items of the key and drop older ones."),
]
LimitOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--limit", min=1, metavar="N", help="Show N items at most, in place of all."),
]
JsonOption: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output, and nothing else there."),
]
