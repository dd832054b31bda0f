"""The sync face of everything async: the same objects, driven by one event loop in a thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from vectormem.chat.storage import ChatStorage
from vectormem.concurrency import ForkAware
from vectormem.errors import MemoryInvalidError
from vectormem.providers.base import BuiltinProvider
from vectormem.providers.protocol import MemoryProvider, UpsertProvider
from vectormem.providers.vector import VectorProvider
from vectormem.slots.run import MemoryRun
from vectormem.slots.tools import MemoryTool

P = ParamSpec("P")
R = TypeVar("R")
TargetT = TypeVar("TargetT")


class _LoopThread(ForkAware):
    """An event loop in a daemon thread, started at the first call, and again in a forked child."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        super().__init__()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        loop = self._running_loop()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("blocking() was called from inside a blocking() call; await the object itself there")
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                run_forever = self._loop.run_forever
                self._thread = threading.Thread(target=run_forever, name="vectormem-blocking", daemon=True)
                self._thread.start()
            return self._loop

    def _after_fork_in_child(self) -> None:
        self._starting = threading.Lock()
        self._loop = self._thread = None


_loop_thread = _LoopThread()


def wait_for(coroutine: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine to its end where `blocking` runs its verbs, and return its result."""
    return _loop_thread.run(coroutine)


class _Verb(Generic[TargetT, P, R]):
    """An async method under its own name and signature, blocking."""

    def __init__(self, method: Callable[Concatenate[TargetT, P], Awaitable[R]]) -> None:
        self._name = method.__name__
        self.__doc__ = method.__doc__

    def __get__(self, instance: "_Blocking[Any] | None", owner: type) -> Callable[P, R]:
        if instance is None:
            return self  # type: ignore[return-value]  # seen by documentation tools only
        verb = getattr(instance.target, self._name)

        @wraps(verb)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            result: R = _loop_thread.run(_awaited(verb, *args, **kwargs))
            return result

        return call


async def _awaited(verb: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
    return await verb(*args, **kwargs)


class _Blocking(Generic[TargetT]):
    def __init__(self, target: TargetT) -> None:
        self.target = target

    def __repr__(self) -> str:
        return f"blocking({self.target!r})"


class BlockingProvider(_Blocking[MemoryProvider]):
    """Any provider, blocking."""

    list = _Verb(MemoryProvider.list)
    add = _Verb(MemoryProvider.add)
    remove = _Verb(MemoryProvider.remove)


class BlockingUpsertProvider(BlockingProvider):
    """A provider that can replace in place, blocking."""

    upsert = _Verb(UpsertProvider.upsert)


class BlockingMemory(BlockingUpsertProvider):
    """A built-in provider, blocking."""

    add_many = _Verb(BuiltinProvider.add_many)
    get = _Verb(BuiltinProvider.get)
    count = _Verb(BuiltinProvider.count)
    clear = _Verb(BuiltinProvider.clear)
    scope_keys = _Verb(BuiltinProvider.scope_keys)
    restore = _Verb(BuiltinProvider.restore)
    close = aclose = _Verb(BuiltinProvider.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BlockingVectorMemory(BlockingMemory):
    """A built-in vector provider, blocking."""

    reindex = _Verb(VectorProvider.reindex)


class BlockingRun(_Blocking[MemoryRun]):
    """A `MemoryRun`, blocking."""

    system_prompt = _Verb(MemoryRun.system_prompt)
    block = _Verb(MemoryRun.block)
    call = _Verb(MemoryRun.call)

    @property
    def tools(self) -> "list[BlockingTool]":
        """The tools of the run, blocking."""
        return [BlockingTool(tool) for tool in self.target.tools]

    def snapshot(self) -> dict[str, Any]:
        """Return what was recalled as a JSON object."""
        return self.target.snapshot()


class BlockingTool(_Blocking[MemoryTool]):
    """A `MemoryTool`, blocking; its other attributes are those of `target`."""

    call = _Verb(MemoryTool.call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)


class BlockingChat(_Blocking[ChatStorage]):
    """A `ChatStorage`, blocking."""

    save_message = _Verb(ChatStorage.save_message)
    save_many = _Verb(ChatStorage.save_many)
    messages = _Verb(ChatStorage.messages)
    conversations = _Verb(ChatStorage.conversations)
    delete_conversation = _Verb(ChatStorage.delete_conversation)
    delete_message = _Verb(ChatStorage.delete_message)
    embed_pending = _Verb(ChatStorage.embed_pending)
    search_messages = _Verb(ChatStorage.search_messages)
    close = aclose = _Verb(ChatStorage.aclose)

    def create_memory_retrieval_tool(self, **options: Any) -> BlockingTool:
        """Return the tool of `ChatStorage.create_memory_retrieval_tool`, blocking; it takes the same options."""
        return BlockingTool(self.target.create_memory_retrieval_tool(**options))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@overload
def blocking(target: VectorProvider) -> BlockingVectorMemory: ...
@overload
def blocking(target: BuiltinProvider) -> BlockingMemory: ...
@overload
def blocking(target: MemoryRun) -> BlockingRun: ...
@overload
def blocking(target: MemoryTool) -> BlockingTool: ...
@overload
def blocking(target: UpsertProvider) -> BlockingUpsertProvider: ...
@overload
def blocking(target: ChatStorage) -> BlockingChat: ...
@overload
def blocking(target: MemoryProvider) -> BlockingProvider: ...
def blocking(target: object) -> object:
    """Return an object with the same verbs that blocks until they are done.

    Works with and without a running event loop and from any thread; the verbs run in the event loop of
    one thread of vectormem's own. A custom provider whose connections belong to another running loop
    cannot be driven from there.
    """
    for kind, face in _FACES:
        if isinstance(target, kind) and not isinstance(target, type):
            return face(target)
    raise MemoryInvalidError(f"blocking() takes a provider, a MemoryRun, a MemoryTool or a ChatStorage, not {target!r}")


_FACES: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (VectorProvider, BlockingVectorMemory),
    (BuiltinProvider, BlockingMemory),
    (MemoryRun, BlockingRun),
    (MemoryTool, BlockingTool),
    (ChatStorage, BlockingChat),
    (UpsertProvider, BlockingUpsertProvider),
    (MemoryProvider, BlockingProvider),
)
