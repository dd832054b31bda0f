"""The connections of one database: one that writes, and a few that read, each used by one thread at a time."""

import ctypes
import threading
from collections.abc import Callable

import apsw

from vectormem.concurrency import ForkAware
from vectormem.errors import StorageFailedError

_IDLE_READERS = 4
_FORK_SECONDS = 5.0


class Connections(ForkAware):
    """Opens connections when they are needed and keeps some.

    All are closed while the process forks: SQLite's locks belong to a process, and a child that shared the
    parent's connections, or only its knowledge of them, could damage the file. A database in memory has
    one connection, which the child gets a copy of.
    """

    def __init__(self, path: str, connect: Callable[[], apsw.Connection], *, in_memory: bool) -> None:
        self._path = path
        self._connect = connect
        self._in_memory = in_memory
        self._is_closed = False
        self._renew_locks()
        self._writer: apsw.Connection | None = None
        self._idle: list[apsw.Connection] = []
        super().__init__()

    def lock_writer(self) -> apsw.Connection:
        """Return the connection that writes, for this thread alone until `unlock_writer`."""
        self._writing.acquire()
        try:
            self._check_open()
            if self._writer is None:
                self._writer = self._connect()
        except BaseException:
            self._writing.release()
            raise
        return self._writer

    def unlock_writer(self) -> None:
        """Let the next thread write."""
        self._writing.release()

    def take_reader(self) -> apsw.Connection:
        """Return a connection to read with, to be given back."""
        with self._resting:
            self._check_open()
            self._readers_out += 1
            idle = self._idle.pop() if self._idle else None
        try:
            return idle or self._connect()
        except BaseException:
            self._return(None)
            raise

    def give_back(self, reader: apsw.Connection) -> None:
        """Keep a reader for the next one who needs it, or close it."""
        self._return(reader)

    def close(self) -> None:
        """Close all connections that are not in use now; the others close when they are given back."""
        with self._writing, self._resting:
            self._is_closed = True
            self._close_all()

    def _return(self, reader: apsw.Connection | None) -> None:
        with self._resting:
            self._readers_out -= 1
            self._resting.notify_all()
            if reader is not None and len(self._idle) < _IDLE_READERS and not self._is_closed:
                self._idle.append(reader)
            elif reader is not None:
                reader.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StorageFailedError(f"the store {self._path} is closed; keep it open while its providers are used")

    def _close_all(self) -> None:
        while self._idle:
            self._idle.pop().close()
        if self._writer is not None and not self._writer.in_transaction:
            self._writer.close()
            self._writer = None

    def _renew_locks(self) -> None:
        self._writing = threading.RLock()
        self._resting = threading.Condition()
        self._readers_out = 0
        self._writer_rests = False

    def _before_fork(self) -> None:
        """Wait for who writes and who reads, but not for ever: they might wait for the thread that forks."""
        self._writer_rests = self._writing.acquire(timeout=_FORK_SECONDS)
        self._resting.acquire()
        self._resting.wait_for(lambda: self._readers_out == 0, _FORK_SECONDS)
        if self._writer_rests and not self._in_memory:
            self._close_all()

    def _after_fork_in_parent(self) -> None:
        self._resting.release()
        if self._writer_rests:
            self._writing.release()

    def _after_fork_in_child(self) -> None:
        self._renew_locks()
        if self._writer is not None and not self._in_memory:  # a transaction was open all the time
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._writer))  # never closed here: it is the parent's
            self._writer = None
