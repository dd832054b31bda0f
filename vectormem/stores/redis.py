"""A Redis or Valkey server as a key-value store in which every change of every process is kept."""

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self

from vectormem.checks import check_seconds
from vectormem.concurrency import ForkAware
from vectormem.errors import MemoryInvalidError, MissingExtraError
from vectormem.stores.kv import Value

if TYPE_CHECKING:
    from redis.asyncio import Redis, RedisCluster

# ARGV: "SET" or "DEL", the new value, and the expected one where the key is expected to be there.
_COMPARE_AND_SET = """
if redis.call('GET', KEYS[1]) ~= (ARGV[3] or false) then return 0 end
if ARGV[1] == 'DEL' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1
"""

_inherited: list[object] = []
"""Clients of a parent process. Collecting them would unregister their sockets in the parent's event loops too."""


class RedisKV(ForkAware):
    """A Redis or Valkey server, for `KVMemory`; the names of its keys begin with `prefix`.

    `server` is a URL (`redis://`, `rediss://` or `unix://`), or a client of `redis.asyncio`. From a URL,
    each event loop gets a client of its own, which waits `timeout` seconds for an answer and tries
    nothing twice; `aclose` closes it. A client that was passed in keeps its settings and stays open.
    """

    def __init__(self, server: "str | Redis | RedisCluster", *, prefix: str = "", timeout: float = 5) -> None:
        try:
            from redis.asyncio import ConnectionPool, Redis, RedisCluster
        except ImportError as error:
            raise MissingExtraError(f"{error}; install it with: pip install 'vectormem[redis]'") from error
        if isinstance(server, str):
            _check_url(server, ConnectionPool)
        elif not isinstance(server, Redis | RedisCluster):
            raise MemoryInvalidError(f"server must be a URL or a client of redis.asyncio, not {type(server).__name__}")
        self._server: Any = server
        self._prefix = prefix
        self._timeout = check_seconds(timeout, "timeout")
        self._mutex = threading.Lock()
        self._clients: dict[asyncio.AbstractEventLoop, Redis] = {}
        super().__init__()

    async def get(self, key: str, /) -> Value:
        """Return the value of a key, or None."""
        value: Value = await self._client().get(self._prefix + key)
        return value

    async def put(self, key: str, value: str, /) -> None:
        """Set a key, whatever it holds."""
        await self._client().set(self._prefix + key, value)

    async def delete(self, key: str, /) -> None:
        """Delete a key, where it is there."""
        await self._client().delete(self._prefix + key)

    async def compare_and_set(self, key: str, expected: Value, value: str | None, /) -> bool:
        """Set a key to `value` (None: delete it) where it still holds `expected`; return whether it did."""
        change = ("DEL", "") if value is None else ("SET", value)
        compared = () if expected is None else (expected,)
        return bool(await self._client().eval(_COMPARE_AND_SET, 1, self._prefix + key, *change, *compared))

    async def list(self, *, prefix: str = "") -> "set[str]":
        """Return the keys that begin with `prefix`; the server is scanned for them."""
        pattern = "".join(f"\\{one}" if one in "*?[]^\\" else one for one in self._prefix + prefix) + "*"
        found = [key async for key in self._client().scan_iter(match=pattern, count=1000)]
        names = (key.decode() if isinstance(key, bytes) else key for key in found)
        return {name.removeprefix(self._prefix) for name in names}

    async def aclose(self) -> None:
        """Close the connections that were opened here, in whichever event loop."""
        with self._mutex:
            clients, self._clients = self._clients, {}
        for loop, client in clients.items():
            if loop is asyncio.get_running_loop():
                await client.aclose()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(client.aclose(), loop))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _client(self) -> Any:
        """Return the client of this event loop, since connections belong to the loop that opened them."""
        if not isinstance(self._server, str):
            return self._server
        loop = asyncio.get_running_loop()
        with self._mutex:
            for other in [one for one in self._clients if one.is_closed()]:
                del self._clients[other]
            if loop not in self._clients:
                self._clients[loop] = self._connected(self._server)
            return self._clients[loop]

    def _connected(self, url: str) -> "Redis":
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        # A change that was tried again after it was stored would find itself in its own way.
        return Redis.from_url(
            url, socket_timeout=self._timeout, socket_connect_timeout=self._timeout, retry=Retry(NoBackoff(), 0)
        )

    def _after_fork_in_child(self) -> None:
        _inherited.append(self._clients)
        self._mutex, self._clients = threading.Lock(), {}


def _check_url(url: str, pools: Any) -> None:
    try:
        pools.from_url(url)
    except ValueError as error:
        raise MemoryInvalidError(f"this is no URL of a Redis server: {error}") from error
