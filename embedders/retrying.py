"""Calls that are tried again, with growing pauses, within a bounded time."""

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import TypeVar

from embedders.errors import EmbedderError

T = TypeVar("T")

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0


class TemporaryError(Exception):
    """A call failed in a way that may pass; `pause` is for how long the other side asks not to be called."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


async def retried(
    call: Callable[[float], Awaitable[T]],
    *,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> T:
    """Await `call(its seconds)`, again after each TemporaryError, until `seconds` are over.

    A call is given half of the time that is left. Pauses double from half a second to eight, less a random
    part. Raises EmbedderError, with the last fault, when the next pause would not end in time.
    """
    deadline = clock() + seconds
    for attempt in itertools.count(1):
        try:
            return await call((deadline - clock()) / 2)
        except TemporaryError as error:
            reason, pause = str(error), error.pause
        if pause is None:
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1)) * (1 - chance() / 4)
        if clock() + pause >= deadline:
            tries = "1 attempt" if attempt == 1 else f"{attempt} attempts"
            raise EmbedderError(f"{reason}; given up after {tries}, the next one would be past {seconds:g} seconds")
        await sleep(pause)
    raise AssertionError("unreachable")


def asked_pause(retry_after: str | None, retry_after_ms: str | None, now: float) -> float | None:
    """Return the seconds that the headers of an answer ask to wait, where they are readable."""
    for value, scale in ((retry_after_ms, 1000.0), (retry_after, 1.0)):
        try:
            if value is not None and 0 <= float(value) / scale < float("inf"):
                return float(value) / scale
        except ValueError:
            continue
    try:
        return max(0.0, parsedate_to_datetime(retry_after or "").timestamp() - now)
    except (ValueError, TypeError):
        return None
