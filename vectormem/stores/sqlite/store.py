"""One database file for everything: items, vectors, chats and sessions."""

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Self, TypeVar

import apsw

from vectormem.checks import check_positive
from vectormem.concurrency import ForkAware, run_in_thread
from vectormem.errors import MemoryInvalidError, StorageFailedError
from vectormem.stores.sqlite.cache import IndexCache
from vectormem.stores.sqlite.connection import MEMORY, connect, create_private, enlarge_cache, use_wal
from vectormem.stores.sqlite.errors import translated
from vectormem.stores.sqlite.schema import check_version, migrate

T = TypeVar("T")

_IDLE_READERS = 4


class SqliteStore(ForkAware):
    """An open database file, or `":memory:"`; share one among the providers of a process.

    Several processes may use one file. A commit is durable when it returns. `busy_seconds` is how long a
    write waits for the writers of other processes; `cache_bytes` bounds the vectors kept in memory. The
    file is created with mode 0600; an existing one gains the tables and keeps its other data. Raises
    StorageFailedError where the file cannot be opened, is no database or is of a newer version.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, busy_seconds: float = 30.0, cache_bytes: int = 512 * 2**20
    ) -> None:
        super().__init__()
        self.path = os.fspath(path)
        if not self.path:
            raise MemoryInvalidError('the path of a SqliteStore must not be empty; ":memory:" keeps nothing')
        self.cache = IndexCache(check_positive(cache_bytes, "cache_bytes"))
        self._busy_seconds = busy_seconds
        self._closed = False
        self._writer: apsw.Connection | None = None
        self._reset()
        with translated(self.path):
            if self.path != MEMORY:
                create_private(self.path)
            writer = self._connect_writer()
            migrate(writer, self.path)
            self._writer = writer

    @property
    def reads_never_wait(self) -> bool:
        """Whether readers have connections of their own, so that no writer holds them up."""
        return self.path != MEMORY

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` on one consistent state of the database. It blocks."""
        if not self.reads_never_wait:
            return self.write(work)
        with translated(self.path):
            connection = self._take_reader()
            try:
                return _in_transaction(connection, "BEGIN", work)
            finally:
                self._put_back(connection)

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` in one write transaction: all of it is stored, or nothing. It blocks."""
        with self._writing, translated(self.path):
            self._check_open()
            if self._writer is None:
                self._writer = self._connect_writer()
            return _in_transaction(self._writer, "BEGIN IMMEDIATE", work)

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        with self._writing, translated(self.path):
            self._closed = True
            while self._readers:
                self._readers.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    async def aclose(self) -> None:
        """Close the connections without blocking the event loop."""
        await run_in_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"SqliteStore({self.path!r})"

    def _connect(self) -> apsw.Connection:
        connection = connect(self.path, self._busy_seconds)
        check_version(connection, self.path)
        if self.path != MEMORY and not connection.readonly("main"):
            use_wal(connection)
        return connection

    def _connect_writer(self) -> apsw.Connection:
        connection = self._connect()
        enlarge_cache(connection)
        return connection

    def _take_reader(self) -> apsw.Connection:
        self._check_open()
        try:
            return self._readers.pop()
        except IndexError:
            return self._connect()

    def _put_back(self, connection: apsw.Connection) -> None:
        if self._closed or len(self._readers) >= _IDLE_READERS:
            connection.close()
        else:
            self._readers.append(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageFailedError(f"the store {self.path} is closed; keep it open while its providers are used")

    def _reset(self) -> None:
        self._writing = threading.RLock()
        self._readers: deque[apsw.Connection] = deque()
        self._writer = None

    def _after_fork_in_child(self) -> None:
        """Leave the parent's connections alone: closing one here could damage the file for the parent."""
        self.cache = IndexCache(self.cache.budget)
        if self.path == MEMORY:
            self._writing = threading.RLock()
            return
        for connection in (*self._readers, self._writer):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        self._reset()


def _in_transaction(connection: apsw.Connection, begin: str, work: Callable[[apsw.Connection], T]) -> T:
    connection.execute(begin)
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result
