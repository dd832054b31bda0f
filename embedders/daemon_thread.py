"""Blocking calls that nobody has to wait for: neither the event loop nor the end of the program."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(function: Callable[[], T]) -> T:
    """Return what a function returns that may hang; when the caller is cancelled, it is left alone."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(set_outcome: Callable[[], None]) -> None:
        if not outcome.done():
            set_outcome()

    def run() -> None:
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001  # the caller gets it
            failure = error
            report = lambda: settle(lambda: outcome.set_exception(failure))  # noqa: E731
        else:
            report = lambda: settle(lambda: outcome.set_result(result))  # noqa: E731
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(report)

    threading.Thread(target=run, daemon=True, name="embedders").start()
    return await outcome
