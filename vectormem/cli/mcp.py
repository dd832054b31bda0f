"""The command `mcp`. What serves is imported when it is called."""

import sys
from pathlib import Path

import typer

from vectormem.cli.mcp_options import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    AllowHostOption,
    HostOption,
    HttpOption,
    PortOption,
    PrincipalOption,
    SlotsOption,
    TokenOption,
    TokensOption,
)
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


def mcp(
    slots: SlotsOption = None,
    principal: PrincipalOption = None,
    http: HttpOption = False,
    host: HostOption = None,
    port: PortOption = None,
    allow_host: AllowHostOption = None,
    token: TokenOption = None,
    tokens: TokensOption = None,
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
        address = host or DEFAULT_HOST, DEFAULT_PORT if port is None else port
        mcp_serving.over_http(offer, door, address, allow_host or [], as_json)
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
