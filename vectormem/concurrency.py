"""Threads for what blocks, also in closing, and a lock that any event loop may wait for."""

import asyncio
import concurrent.futures.thread  # noqa: F401  # else by the first call in a thread, and a fork then hangs its child
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import ClassVar, ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a thread; where the caller is cancelled, it still runs to its end."""
    return await asyncio.to_thread(function, *args, **kwargs)


class Closable:
    """Something with a `close` that may block: closed at the end of `with` or `async with` too."""

    def close(self) -> None:
        """Close it; a second call does nothing."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close it without blocking the event loop."""
        await run_in_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncLock:
    """A mutual exclusion between coroutines of any event loops and threads, first come, first served."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        with self._mutex:
            if not self._held:
                self._held = True
                return
            turn = loop.create_future()
            self._waiting.append((loop, turn))
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(loop, turn)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        with self._mutex:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(self._hand_over, turn)
                except RuntimeError:  # that loop is closed: its waiter is gone
                    continue
                return
            self._held = False

    def _hand_over(self, turn: "asyncio.Future[None]") -> None:
        if turn.done():
            self._release()
        else:
            turn.set_result(None)

    def _give_up(self, loop: asyncio.AbstractEventLoop, turn: "asyncio.Future[None]") -> None:
        with self._mutex:
            waiting = (loop, turn) in self._waiting
            if waiting:
                self._waiting.remove((loop, turn))
        if not waiting and not turn.cancelled():
            self._release()


class ForkAware:
    """Something that comes to rest while its process forks, and has locks of its own in the child."""

    _alive: ClassVar["weakref.WeakSet[ForkAware]"] = weakref.WeakSet()

    def __init__(self) -> None:
        """Register; to be called last, when everything that the hooks use is there."""
        ForkAware._alive.add(self)

    def _before_fork(self) -> None:
        """Come to rest. What is held from here on is given back by the two hooks below."""

    def _after_fork_in_parent(self) -> None:
        """Go on."""

    def _after_fork_in_child(self) -> None:
        """Go on with locks of one's own: a thread that held one is not there any more."""


_resting: list[ForkAware] = []


_event_loop_policy = getattr(asyncio.events, "_get_event_loop_policy", asyncio.events.get_event_loop_policy)


def _before_fork() -> None:
    _event_loop_policy()  # else a thread may be making it just now, and hold the lock for ever in the child
    _resting.extend(ForkAware._alive)
    for instance in _resting:
        instance._before_fork()


def _after_fork_in_parent() -> None:
    while _resting:
        _resting.pop()._after_fork_in_parent()


def _after_fork_in_child() -> None:
    while _resting:
        _resting.pop()._after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
