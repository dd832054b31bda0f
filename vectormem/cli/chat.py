"""The command `chat`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    OptionalKeyOption,
)
from vectormem.cli.output import note, print_json
from vectormem.cli.place import file_of
from vectormem.cli.sources import STDIN, opened_source

_INTERRUPTED = 130


def chat(
    model: Annotated[
        str,
        typer.Option("--model", metavar="MODEL", help="A model of pydantic-ai, as openai:gpt-5; test works offline."),
    ],
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="The conversation, kept in the file and gone on with.")
    ] = "main",
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="Whose memory and conversations these are.")
    ] = None,
    slots: Annotated[
        Path | None,
        typer.Option("--slots", metavar="DIR", help="Run the slot definitions of this folder in place of --key."),
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OptionalKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Talk to a model that remembers, and see what it recalls.

    Each line of the input is a message. What was recalled and remembered
    is shown on standard error. Ctrl-D or Ctrl-C ends the conversation.

    Example: vectormem chat --model test --user sam
    """
    path = file_of(db, "chat")
    import vectormem.adapters.pydantic_ai  # noqa: F401  # where it is missing, this says how to install it
    from vectormem.cli.chat_setup import make_chat, usable_model
    from vectormem.stores.sqlite.store import SqliteStore

    chosen, loaded = usable_model(model), embedder.load()
    with SqliteStore(path) as store:
        talk = make_chat(store, loaded, model=chosen, session=session, user=user, slots=slots, key=key)
        is_typed = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
        if is_typed:
            note(f"Session {session}, kept in {path}. Ctrl-D ends it.")
        try:
            talk.run(_typed() if is_typed else _lines(), goes_on_after_errors=is_typed, prints=not as_json)
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            raise typer.Exit(_INTERRUPTED) from None
    if as_json:
        print_json({"session": session, "user": user, "turns": talk.turns, "error": talk.error})
    if talk.error and not is_typed:
        raise typer.Exit(1)


def _typed() -> Iterator[str]:
    """Yield what is typed, until Ctrl-D or Ctrl-C at the prompt."""
    from importlib.util import find_spec

    if find_spec("readline"):
        import readline  # noqa: F401  # lets a line be edited, and earlier ones be called back
    while True:
        try:
            yield input("> ").encode(errors="replace").decode()  # a terminal may send what is no text
        except (EOFError, KeyboardInterrupt):
            sys.stdout.write("\n")
            return


def _lines() -> Iterator[str]:
    with opened_source(STDIN) as source:
        yield from source
