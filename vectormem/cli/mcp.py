"""The command `mcp`. What serves is imported when it is called."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DEFAULT_KEY,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    MaxItemsOption,
    OptionalKeyOption,
)
from vectormem.cli.output import note

_HOST = "127.0.0.1"
_PORT = 8000


def mcp(
    slots: Annotated[
        Path | None,
        typer.Option("--slots", metavar="DIR", help="Offer the slots that the *.py files of a folder define."),
    ] = None,
    principal: Annotated[
        str | None,
        typer.Option("--principal", metavar="NAME", help="Who the only user is, for slots and chats of a user."),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP in place of standard input.")] = False,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", show_default=_HOST, help="The address to listen on.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, metavar="PORT", show_default=str(_PORT), help="The port; 0 takes a free one."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A further name under which to answer; repeatable."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="VECTORMEM_TOKEN",
            metavar="TOKEN",
            show_default=False,
            help="The bearer token that HTTP clients must send. Set the variable: other users see command lines.",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", metavar="FILE", help='A JSON file {"token": "principal"}: a token for each user.'),
    ] = None,
    max_items: MaxItemsOption = None,
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OptionalKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Serve a memory to hosts of the Model Context Protocol, over standard input or HTTP.

    Without --slots, it is the memory --key of the file, with the tools
    remember, recall and forget; of each user, SLOT#user:NAME, where there
    is --principal or --tokens. The tool search_memory looks through the
    chats of the file: those of the scope key user:NAME, else global.

    Beyond the loopback it takes --token or --tokens. --json prints the
    URL once it listens.

    Example: vectormem mcp --db agent.db
    """
    if not http and any((host, port is not None, allow_host, tokens)):
        raise typer.BadParameter("--host, --port, --allow-host and --tokens need --http")
    _check_users(principal, token, tokens)
    _check_key(key, among_others=slots or principal or tokens)
    from vectormem.cli import mcp_serving

    offer = mcp_serving.Offer(db, embedder, slots, key or DEFAULT_KEY, max_items)
    if http:
        door = mcp_serving.door(token, tokens, principal)
        mcp_serving.over_http(offer, door, host or _HOST, _PORT if port is None else port, allow_host or [], as_json)
        return
    if sys.stdin is not None and sys.stdin.isatty():
        note("a host starts this command and speaks to it on standard input; end it with Ctrl-D")
    mcp_serving.over_stdio(offer, principal)


def _check_users(principal: str | None, token: str | None, tokens: Path | None) -> None:
    if tokens is not None and principal is not None:
        raise typer.BadParameter("--tokens says who each user is, --principal who the only one is: give one of the two")
    if tokens is not None and token is not None:
        raise typer.BadParameter("--tokens holds all tokens; take away --token, or the variable VECTORMEM_TOKEN")
    if principal is not None and not principal.strip():
        raise typer.BadParameter("--principal must not be blank")


def _check_key(key: str | None, *, among_others: object) -> None:
    if key is not None and among_others:
        raise typer.BadParameter("--key names one memory; with --slots, --principal or --tokens there are others")
    if key is not None and not all(key.partition("#")):
        raise typer.BadParameter(f"--key must be SLOT#SCOPE_KEY, as in {DEFAULT_KEY}, not {key!r}")
