"""What `vectormem mcp` serves, and how."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from vectormem.chat.storage import ChatStorage
from vectormem.cli.embedder import EmbedderChoice
from vectormem.cli.opening import opened_store, vector_provider
from vectormem.cli.output import note, print_json
from vectormem.cli.place import Place
from vectormem.errors import MemoryInvalidError
from vectormem.mcp_server.caller import Caller
from vectormem.mcp_server.hosts import is_every_address
from vectormem.mcp_server.listening import listen, url_of
from vectormem.mcp_server.memories import Memories
from vectormem.mcp_server.sessions import needs_session
from vectormem.mcp_server.standard_streams import claim_streams
from vectormem.mcp_server.tokens import Tokens, read_tokens
from vectormem.providers.protocol import MemoryProvider
from vectormem.slots.define import MemorySlot, define_memory, memory_key
from vectormem.slots.load import load_memory_slots
from vectormem.slots.scope import MemoryContext, Scope


class Offer(NamedTuple):
    """What to serve; it is opened when the streams are ready for it, since slots and embedders may print."""

    db: Place
    embedder: EmbedderChoice
    slots: Path | None
    key: str
    max_items: int | None

    @contextmanager
    def opened(self, callers: Sequence[Caller]) -> Iterator[Memories]:
        """Open the database. Raises MemoryInvalidError where a slot cannot serve one of the callers."""
        embedder = self.embedder.load()
        with opened_store(self.db, create=True, is_lasting=True) as store:
            if self.slots is None:
                memory = vector_provider(store, embedder, max_items=self.max_items)
                slots = [_slot(memory, self.key, callers)]
            else:
                slots = load_memory_slots(self.slots)
            memories = Memories(
                slots, chats=lambda name: ChatStorage(store, embedder=embedder, scope_key=_of_user(name) or "global")
            )
            _check(memories, callers)
            yield memories


class Door(NamedTuple):
    """Who comes in over HTTP: those whom a token proves, or everyone as the only user."""

    tokens: Tokens | None
    callers: Sequence[Caller]


def door(token: str | None, tokens: Path | None, principal: str | None) -> Door:
    """Return who comes in. Raises MemoryInvalidError for tokens that are none."""
    if tokens is not None:
        known = read_tokens(tokens)
    elif token is not None:
        known = Tokens({token: principal})
    else:
        return Door(None, [Caller(principal)])
    return Door(known, known.callers)


def over_stdio(offer: Offer, principal: str | None) -> None:
    """Serve one user on standard input and output until its end."""
    from vectormem.mcp_server.over_stdio import serve_stdio
    from vectormem.mcp_server.server import memory_server

    descriptors = claim_streams()
    caller = Caller(principal)
    with offer.opened([caller]) as memories:
        serve_stdio(memory_server(memories, lambda request: caller), descriptors)


def over_http(offer: Offer, door: Door, address: tuple[str, int], names: Sequence[str], as_json: bool) -> None:
    """Serve whoever comes in by the door until the process is ended."""
    from vectormem.mcp_server.bearer import proved_caller
    from vectormem.mcp_server.over_http import http_app, serve_http
    from vectormem.mcp_server.server import memory_server

    known = [*names] if is_every_address(address[0]) else [*names, address[0]]
    listening, only = listen(*address, names=known, has_tokens=door.tokens is not None), door.callers[0]
    with closing(listening), offer.opened(door.callers) as memories:
        server = memory_server(memories, proved_caller if door.tokens else lambda request: only)
        if as_json:
            print_json({"url": url_of(listening)})
        else:
            note(f"listening on {url_of(listening)}")
        serve_http(http_app(server, names=known, tokens=door.tokens), listening)


def _slot(memory: MemoryProvider, key: str, callers: Sequence[Caller]) -> MemorySlot:
    """Return the memory of a key as a slot; with principals, each has one of their own."""
    name, _, scope_key = key.partition("#")

    def own(context: MemoryContext) -> str:
        return _of_user(context.principal) or scope_key

    scope: Scope = "global" if scope_key == "global" and callers == [Caller()] else own
    return define_memory(name=name, scope=scope, provider=memory, expose={"forget": True})


def _of_user(principal: str | None) -> str | None:
    return None if principal is None else f"user:{principal}"


def _check(memories: Memories, callers: Sequence[Caller]) -> None:
    for caller in callers:
        try:
            memories.tools(caller)
        except MemoryInvalidError as error:
            advice = "" if caller.principal else "; --principal or --tokens say who the user is"
            raise MemoryInvalidError(f"{error}{advice}") from error
    for slot in memories.slots(callers[0]):
        if not needs_session(slot, callers[0]) and _is_shared(slot, callers):
            note(f"note: the memory {slot.name!r} is one and the same for several users, as its scope says")


def _is_shared(slot: MemorySlot, callers: Sequence[Caller]) -> bool:
    keys = [key for caller in callers if (key := memory_key(slot, MemoryContext(principal=caller.principal)))]
    return len(set(keys)) < len(keys)
