"""SQLite connections as vectormem opens them."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import apsw

from vectormem.stores.sqlite.encryption import Secret

MEMORY = ":memory:"

_PAGE_BYTES = 16_384
_CACHE_KIB = 8_192  # room for the index pages that a bulk write touches again and again
_WAL_BYTES_KEPT = 16 * 2**20
_OPEN_SECONDS = 30.0


def create_private(path: str) -> None:
    """Create the file, readable by its owner alone, where it is not there yet."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError:
        return  # it exists, or SQLite will say why it cannot


def connect(path: str, busy_seconds: float, secret: Secret | None = None) -> apsw.Connection:
    """Open a connection that waits for locks, writes durably and overwrites what it deletes."""
    if _is_sealed(path):
        target, flags = f"file:{quote(path)}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    else:
        target, flags = path, apsw.SQLITE_OPEN_READWRITE  # never created here: it would not be private
    connection = apsw.Connection(target, flags=flags)
    if secret is not None:
        secret.unlock(connection)
        connection.execute("PRAGMA temp_store=MEMORY")  # a temporary file would hold rows in plain
    connection.set_busy_handler(_patience(busy_seconds))
    for pragma in _pragmas():
        connection.execute(f"PRAGMA {pragma}")
    return connection


def open_untouched(path: Path, secret: Secret | None = None) -> apsw.Connection:
    """Open a file for reading. Where no log lies beside it, SQLite is kept from putting one there."""
    has_log = any(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-journal"))
    uri = f"{path.absolute().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    if secret is not None:
        secret.unlock(connection)
    connection.set_busy_timeout(5_000)
    return connection


def _is_sealed(path: str) -> bool:
    """Whether the file lies in a folder where not even a reader may create the files it shares with writers."""
    file = Path(path)
    return file.exists() and not os.access(file.parent, os.W_OK) and not Path(f"{path}-wal").exists()


def _pragmas() -> tuple[str, ...]:
    return (
        f"page_size={_PAGE_BYTES}",
        "secure_delete=ON",
        "foreign_keys=ON",
        "synchronous=FULL",
        f"cache_size=-{_CACHE_KIB}",
    )


def _patience(seconds: float) -> Callable[[int], bool]:
    """Return a busy handler that waits up to `seconds`, a random moment at a time, so that nobody starves."""
    deadline = 0.0

    def wait(calls_before: int) -> bool:
        nonlocal deadline
        now = time.monotonic()
        if calls_before == 0:
            deadline = now + seconds
        if now >= deadline:
            return False
        time.sleep(random.uniform(0.0005, min(0.02, 0.001 * (calls_before + 1))))
        return True

    return wait


def identity(path: str) -> tuple[int, int] | None:
    """Return what tells the file at a path from any other, or None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # each verb comes by here
    except OSError:
        return None
    return found.st_dev, found.st_ino


def use_rollback_journal(connection: apsw.Connection) -> None:
    """Leave write-ahead logging, which needs memory that all processes share."""
    connection.pragma("journal_mode", "delete")


def use_wal(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging; SQLite answers "busy" at once where others open a new file too."""
    connection.execute(f"PRAGMA journal_size_limit={_WAL_BYTES_KEPT}")
    deadline = time.monotonic() + _OPEN_SECONDS
    while connection.pragma("journal_mode") != "wal":
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(random.uniform(0.001, 0.02))
