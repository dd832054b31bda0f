"""The command `demo`."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from vectormem.cli.demo_view import print_demo
from vectormem.cli.options import DEFAULT_EMBEDDER, EmbedderOption, JsonOption, check_database
from vectormem.cli.output import print_json


def demo(
    db: Annotated[
        Path | None,
        typer.Option(
            "--db",
            metavar="FILE",
            callback=check_database,
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
    document = {"key": key, "db": None if db is None else str(db), **played}
    if as_json:
        print_json(document)
    else:
        print_demo(document)


@contextmanager
def _database(path: Path | None) -> Iterator[Path]:
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="vectormem-demo-") as folder:
        yield Path(folder) / "demo.db"
