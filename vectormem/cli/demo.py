"""The command `demo`."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from vectormem.cli.demo_view import print_demo
from vectormem.cli.options import DEFAULT_EMBEDDER, EmbedderOption, JsonOption
from vectormem.cli.output import print_json
from vectormem.cli.place import Place, file_of, parse_place


def demo(
    db: Annotated[
        Place | None,
        typer.Option(
            "--db",
            metavar="FILE",
            parser=parse_place,
            show_default="a temporary file",
            help="Keep the memory in this file. VECTORMEM_DB is not used here.",
        ),
    ] = None,
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="The memory to use, as SLOT#SCOPE_KEY.")] = (
        "facts#user:sam"
    ),
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Show two conversations: in one the model remembers, in the next it is reminded.

    All is real but the model, whose words are scripted: it needs no network.
    It prints what the model received and what it answered.

    Example: vectormem demo --db demo.db
    """
    from vectormem.cli.demo_play import play

    with _database(db) as path:
        played = play(path, embedder.load(), key)
    document = {"key": key, "db": None if db is None else db.shown, **played}
    if as_json:
        print_json(document)
    else:
        print_demo(document)


@contextmanager
def _database(place: Place | None) -> Iterator[Path]:
    if place is not None:
        yield file_of(place, "demo")
        return
    with tempfile.TemporaryDirectory(prefix="vectormem-demo-") as folder:
        yield Path(folder) / "demo.db"
