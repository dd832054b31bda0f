"""The commands, put together."""

import sys
from typing import Annotated

import typer

from vectormem.cli.chat import chat
from vectormem.cli.database import keys, reindex, stats
from vectormem.cli.demo import demo
from vectormem.cli.doctor import doctor
from vectormem.cli.embedders import embedders
from vectormem.cli.exporting import export
from vectormem.cli.forget import forget
from vectormem.cli.importing import import_items
from vectormem.cli.items import add, list_items, search
from vectormem.cli.mcp import mcp
from vectormem.cli.output import reported

app = typer.Typer(
    name="vectormem",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"vectormem {version('vectormem')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Memory for AI agents, in one SQLite file.

    Start with `vectormem demo`. Then: vectormem add "The user likes tea." and vectormem search "tea".
    """


for _name, _command in (
    ("demo", demo),
    ("chat", chat),
    ("add", add),
    ("list", list_items),
    ("search", search),
    ("forget", forget),
    ("keys", keys),
    ("stats", stats),
    ("reindex", reindex),
    ("export", export),
    ("import", import_items),
    ("doctor", doctor),
    ("embedders", embedders),
    ("mcp", mcp),
):
    app.command(_name)(reported(_command))


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="vectormem")
