"""The connections of one store, each used by one thread at a time."""

import threading
from collections.abc import Callable

from psycopg.pq import TransactionStatus

from vectormem.concurrency import ForkAware
from vectormem.errors import StorageFailedError
from vectormem.stores.postgres.connection import Connection

_of_the_parent: list[Connection] = []
"""Connections from before a fork, kept from being closed: that would end the parent's sessions."""


class Connections(ForkAware):
    """Opens connections when they are needed, up to `size`, and keeps those that are in order.

    A forked child leaves the connections of its parent alone and opens its own.
    """

    def __init__(self, shown: str, connect: Callable[[], Connection], *, size: int, wait_seconds: float) -> None:
        self._shown = shown
        self._connect = connect
        self._size = size
        self._wait_seconds = wait_seconds
        self._is_closed = False
        self._idle: list[Connection] = []
        self._renew_locks()
        super().__init__()

    def take(self) -> tuple[Connection, bool]:
        """Return a connection and whether it is new; it may have been lost since it was used last."""
        if not self._places.acquire(timeout=self._wait_seconds):
            raise StorageFailedError(
                f"all {self._size} connections to {self._shown} were in use for {self._wait_seconds:g} s; "
                "raise pool_size, or try again"
            )
        try:
            with self._lock:
                self._check_open()
                idle = self._idle.pop() if self._idle else None
            return (self._connect(), True) if idle is None else (idle, False)
        except BaseException:
            self._places.release()
            raise

    def give_back(self, connection: Connection) -> None:
        """Keep a connection that is at rest for the next one who needs it, and close any other."""
        is_at_rest = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            keeps = is_at_rest and not self._is_closed
            if keeps:
                self._idle.append(connection)
        if not keeps:
            connection.close()
        self._places.release()

    def forget_idle(self) -> None:
        """Close the idle connections: where one was lost, the others mostly are."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close the connections that are not in use now; the others close when they are given back."""
        self._is_closed = True
        self.forget_idle()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StorageFailedError(f"the store {self._shown} is closed; keep it open while its providers are used")

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(self._size)

    def _before_fork(self) -> None:
        self._lock.acquire()

    def _after_fork_in_parent(self) -> None:
        self._lock.release()

    def _after_fork_in_child(self) -> None:
        _of_the_parent.extend(self._idle)
        self._idle = []
        self._renew_locks()
