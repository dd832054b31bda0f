"""The bytes of a database's files, below SQLite's pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

CHUNK = 4 * 2**20
LOG, JOURNAL = "-wal", "-journal"

_MAIN = apsw.SQLITE_OPEN_MAIN_DB
_KINDS = {"": _MAIN, LOG: apsw.SQLITE_OPEN_WAL, JOURNAL: apsw.SQLITE_OPEN_MAIN_JOURNAL}


@contextmanager
def opened(path: str, suffix: str = "", *, writable: bool = False) -> "Iterator[apsw.VFSFile]":
    """Open a file the way SQLite does: closing it otherwise would release the locks of this process on it."""
    access = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
    file = apsw.VFSFile(_below_ciphers(), path + suffix, [_KINDS[suffix] | access, 0])
    try:
        yield file
    finally:
        file.xClose()


def _below_ciphers() -> str:
    """Return the name of the system's own way to files, also where SQLite encrypts above it."""
    return apsw.vfs_names()[0].removeprefix("multipleciphers-")


def chunks(file: "apsw.VFSFile") -> Iterator[bytes]:
    """Yield the content of a file."""
    size = file.xFileSize()
    for start in range(0, size, CHUNK):
        yield file.xRead(min(CHUNK, size - start), start)


def existing(path: str) -> list[str]:
    """Return the suffixes of the files that hold content of a database; `-shm` holds page numbers alone."""
    return [suffix for suffix in _KINDS if Path(path + suffix).exists()]


def size_of_log(path: str) -> int:
    """Return the bytes of the write-ahead log, 0 where there is none."""
    log = Path(path + LOG)
    return log.stat().st_size if log.exists() else 0
