"""The options of `vectormem mcp`."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000

SlotsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--slots", metavar="DIR", help="Offer the slots that the *.py files of a folder define."),
]
PrincipalOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--principal", metavar="NAME", help="Who the only user is, for slots and chats of a user."),
]
HttpOption: TypeAlias = Annotated[
    bool,
    typer.Option("--http", help="Serve streamable HTTP in place of standard input."),
]
HostOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--host", metavar="HOST", show_default=DEFAULT_HOST, help="The address to listen on."),
]
PortOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        metavar="PORT",
        show_default=str(DEFAULT_PORT),
        help="The port; 0 takes a free one.",
    ),
]
AllowHostOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A further name under which to answer; repeatable."),
]
TokenOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="VECTORMEM_TOKEN",
        metavar="TOKEN",
        show_default=False,
        help="The bearer token that HTTP clients must send. Set the variable: other users see command lines.",
    ),
]
TokensOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--tokens", metavar="FILE", help='A JSON file {"token": "principal"}: a token for each user.'),
]
