"""Threads for what blocks, and a lock that any event loop may wait for."""

import asyncio
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def run_in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a thread; where the caller is cancelled, it still runs to its end."""
    return await asyncio.to_thread(function, *args, **kwargs)


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
    """Something whose locks and connections must be made anew in a forked child."""

    _alive: ClassVar["weakref.WeakSet[ForkAware]"] = weakref.WeakSet()

    def __init__(self) -> None:
        ForkAware._alive.add(self)

    def _after_fork_in_child(self) -> None:
        raise NotImplementedError


def _after_fork_in_child() -> None:
    for instance in list(ForkAware._alive):
        with suppress(AttributeError):  # one whose construction failed, or was not done yet
            instance._after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
