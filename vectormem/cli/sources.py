"""Where `import` and `add` read from: files and standard input, as numbered lines of UTF-8."""

import codecs
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from vectormem.errors import MemoryInvalidError

STDIN = "-"


class Source:
    """The lines of a UTF-8 file without their ends; a byte order mark is passed over.

    `first` is the first line as bytes, `bytes_read` what was read so far. `error` makes an error that
    names the line read last, or the one given.
    """

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.first = stream.readline().removeprefix(codecs.BOM_UTF8)
        self.bytes_read = 0
        self.line = 0
        self._lines: Iterable[bytes] = chain([self.first], stream) if self.first else ()

    def __iter__(self) -> Iterator[str]:
        for raw in self._lines:
            self.line += 1
            self.bytes_read += len(raw)
            try:
                yield raw.decode().rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise self.error(_not_utf8(error)) from error

    def error(self, reason: object, line: int | None = None) -> MemoryInvalidError:
        """Return an error that names the file, the line and the reason."""
        return MemoryInvalidError(f"{self.name}, line {line or self.line}: {reason}")


@contextmanager
def opened_source(name: str) -> Iterator[Source]:
    """Open a file, or standard input for `-`."""
    if name == STDIN:
        yield Source("standard input", sys.stdin.buffer)
        return
    with Path(name).open("rb") as stream:
        yield Source(name, stream)


def size_of(name: str) -> int:
    """Return the size of a file in bytes, 0 for standard input and pipes. Raises OSError where it cannot be read."""
    if name == STDIN or Path(name).is_fifo():
        return 0
    with Path(name).open("rb"):
        return Path(name).stat().st_size


def stdin_text() -> str:
    """Return all of standard input without the line end at its end."""
    with opened_source(STDIN) as source:
        return "\n".join(source)


def _not_utf8(error: UnicodeDecodeError) -> str:
    found = error.object[error.start]
    utf16 = error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    hint = "it looks like UTF-16; save it as UTF-8" if utf16 else "save it as UTF-8"
    return f"not UTF-8: byte 0x{found:02x} at position {error.start + 1}; {hint}"
