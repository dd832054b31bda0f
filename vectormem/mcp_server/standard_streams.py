"""Standard input and output as the wire of the protocol, kept clear of everything else in the process."""

import asyncio
import json
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from vectormem.mcp_server.limits import MOST_BYTES

_LINES_AHEAD = 16
_SECONDS_TO_ANSWER = 10.0
_TOO_LONG = {"code": -32600, "message": f"Request too large: at most {MOST_BYTES} bytes"}


def claim_streams() -> tuple[int, int]:
    """Take over standard input and output for the rest of the process; return a descriptor of each.

    What anything prints from here on, C libraries included, comes out on standard error, and what a child
    process reads is empty.
    """
    sys.stdout.flush()
    wire = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return wire


class Wire:
    """The lines that come in, to iterate over, and the lines that go out, to `write`.

    Both are what the package `mcp` takes in place of files. They are read and written by threads that
    nobody has to wait for when the process ends. A line of more than `MOST_BYTES` is refused and passed
    over. After the last line, the end is held back until what was asked is answered, ten seconds at most.
    """

    def __init__(self, descriptors: tuple[int, int]) -> None:
        self._input, self._output = descriptors
        self._loop = asyncio.get_running_loop()
        self._incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self._outgoing: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        self._room = threading.Semaphore(_LINES_AHEAD)
        self._unanswered: set[str] = set()
        self._answered = asyncio.Event()
        for work in (self._read, self._write):
            threading.Thread(target=work, name=f"vectormem-mcp{work.__name__}", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._incoming.get():
            self._room.release()
            if len(line) > MOST_BYTES:
                await self.write(json.dumps({"jsonrpc": "2.0", "id": None, "error": _TOO_LONG}) + "\n")
            else:
                self._follow(line)
                yield line.decode(errors="replace")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_answered(), _SECONDS_TO_ANSWER)

    async def write(self, text: str) -> None:
        """Write whole lines. Raises BrokenPipeError where nobody reads them any more."""
        written = self._loop.create_future()
        self._outgoing.put((text.encode(), written))
        await written
        self._follow(text)

    async def flush(self) -> None:
        """Do nothing: what is written is on its way."""

    async def _all_answered(self) -> None:
        while self._unanswered:
            self._answered.clear()
            await self._answered.wait()

    def _follow(self, line: bytes | str) -> None:
        """Note what a line asks for, answers or takes back."""
        message = _object(line)
        if message.get("method") == "notifications/cancelled":
            self._unanswered.discard(repr(_object(message.get("params")).get("requestId")))
        elif "id" in message and "method" in message:
            self._unanswered.add(repr(message["id"]))
        else:
            self._unanswered.discard(repr(message.get("id")))
        self._answered.set()

    def _read(self) -> None:
        try:
            with open(self._input, "rb") as lines:  # noqa: PTH123  # a descriptor has no path
                for line in iter(lambda: _read_line(lines), b""):
                    self._room.acquire()
                    self._call(self._incoming.put_nowait, line)
        finally:
            self._call(self._incoming.put_nowait, b"")

    def _write(self) -> None:
        while True:
            data, written = self._outgoing.get()
            try:
                while data:
                    data = data[os.write(self._output, data) :]
            except OSError as error:
                self._call(_settle, written, error)
            else:
                self._call(_settle, written, None)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process ends
            self._loop.call_soon_threadsafe(function, *arguments)


def _read_line(lines: Any) -> bytes:
    """Return a line, or a part that is too long of one that is; b"" at the end."""
    line: bytes = lines.readline(MOST_BYTES + 1)
    rest = line
    while len(line) > MOST_BYTES and rest and not rest.endswith(b"\n"):
        rest = lines.readline(MOST_BYTES)
    return line


def _settle(written: "asyncio.Future[None]", error: OSError | None) -> None:
    if written.done():
        return
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)


def _object(line: object) -> dict[str, Any]:
    """Return a JSON object, given as text or as itself; an empty one for anything else."""
    try:
        value = json.loads(line) if isinstance(line, str | bytes) else line
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
