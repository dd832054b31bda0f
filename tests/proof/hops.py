"""A million hops to a thread and back take long; where nobody else is there, they change nothing."""

import asyncio
from contextlib import contextmanager


@contextmanager
def without_threads():
    """Let what would go to a thread run where it is called: nobody else is there, and a million hops take long."""

    async def call(function, /, *args, **kwargs):
        return function(*args, **kwargs)

    to_thread, asyncio.to_thread = asyncio.to_thread, call
    try:
        yield
    finally:
        asyncio.to_thread = to_thread
