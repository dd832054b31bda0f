"""Where the times and ids of what is stored come from; tests give their own."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypedDict


class Origin(TypedDict, total=False):
    """Where a memory gets the times and the ids of new items from: the clock and random UUIDs."""

    clock: Callable[[], datetime]
    new_id: Callable[[], str]


def utc_now() -> datetime:
    """Return the current time, aware and in UTC."""
    return datetime.now(UTC)


def new_uuid() -> str:
    """Return a UUID of version 7 (RFC 9562): random, but growing with time, which keeps index pages together."""
    digits = f"{time.time_ns() // 1_000_000:012x}7{os.urandom(10).hex()}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
