"""The options that all commands share."""

from typing import Annotated, Any, TypeAlias

import typer

from vectormem.cli.embedder import GRAMMAR, EmbedderChoice, parse_embedder
from vectormem.cli.place import Place, parse_place

DEFAULT_DATABASE: Any = "vectormem.db"  # the option parses it
DEFAULT_KEY = "memory#global"
DEFAULT_EMBEDDER: Any = "hash"  # the option parses it


DatabaseOption: TypeAlias = Annotated[
    Place,
    typer.Option(
        "--db",
        envvar="VECTORMEM_DB",
        parser=parse_place,
        metavar="FILE|DSN",
        help="The database file to use, or a Postgres database as postgresql://USER@HOST/NAME.",
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
