"""One database file for everything: items, vectors, chats and sessions."""

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from vectormem.canonical import check_storable
from vectormem.checks import check_positive
from vectormem.concurrency import Closable, ForkAware, run_in_thread
from vectormem.errors import MemoryInvalidError, StorageFailedError
from vectormem.stores.cache import IndexCache
from vectormem.stores.sqlite import history as histories
from vectormem.stores.sqlite.care import Care
from vectormem.stores.sqlite.connection import (
    MEMORY,
    connect,
    create_private,
    identity,
    use_rollback_journal,
    use_wal,
)
from vectormem.stores.sqlite.connections import Connections
from vectormem.stores.sqlite.deletions import noticed
from vectormem.stores.sqlite.disk import network_file_system
from vectormem.stores.sqlite.encryption import Key, Secret, checked_key
from vectormem.stores.sqlite.errors import translated
from vectormem.stores.sqlite.history import History
from vectormem.stores.sqlite.rekey import rekey
from vectormem.stores.sqlite.schema import check_version, migrate
from vectormem.stores.sqlite.wipe import empty_log, wipe

logger = logging.getLogger("vectormem")

T = TypeVar("T")

_REST_SECONDS = 5.0
_ON_NETWORK = (
    "the database %s lies on a network file system (%s): it is kept without a write-ahead log, which is slower, and is "
    "as safe as the locks of that file system; prefer a local disk, or a database server"
)


class SqliteStore(Closable, ForkAware, Care):
    """An open database file, or `":memory:"`; share one among the providers of a process.

    Several processes may use one file. A commit is durable when it returns. `busy_seconds` is how long a
    write waits for the writers of other processes; `cache_bytes` bounds the vectors kept in memory. The
    file is created with mode 0600; an existing one gains the tables and keeps its other data. Raises
    StorageFailedError where the file cannot be opened, is no database or is of a newer version.

    `key` encrypts the file: a passphrase, or 32 random bytes. `history` keeps what was changed, for `undo`: True
    or a `History` switches it on for the file, False switches it off and deletes it, None leaves it as it is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        key: Key | None = None,
        history: History | bool | None = None,
        busy_seconds: float = 30.0,
        cache_bytes: int = 512 * 2**20,
    ) -> None:
        self.path = _checked_path(path)
        self.secret, wanted = checked_key(key), histories.checked(history)
        if self.secret is not None and self.path == MEMORY:
            raise MemoryInvalidError("a database in memory is not encrypted; leave the key out")
        self.cache = IndexCache(check_positive(cache_bytes, "cache_bytes"))
        self._busy_seconds = busy_seconds
        self._has_deleted = False
        self._in_memory = self.path == MEMORY
        self._network = None if self._in_memory else network_file_system(self.path)
        self._connections = Connections(self.path, self._connect, in_memory=self._in_memory)
        with translated(self.path, self.secret):
            if not self._in_memory:
                create_private(self.path)
            self._file = identity(self.path)
            self._with_writer(lambda connection: migrate(connection, self.path))
            self.recorded = self._set_up_history(wanted)
        if self._network:
            logger.warning(_ON_NETWORK, self.path, self._network)
        super().__init__()

    @property
    def reads_never_wait(self) -> bool:
        """Whether readers have connections of their own, and no writer holds them up."""
        return not self._in_memory and self._network is None

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` on one consistent state of the database. It blocks."""
        if self._in_memory:
            return self.write(work)
        self._check_file()
        with translated(self.path, self.secret):
            connection = self._connections.take_reader()
            try:
                return _in_transaction(connection, "BEGIN", work)
            finally:
                self._connections.give_back(connection)

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` in one write transaction: all of it is stored, or nothing. It blocks.

        Where it deletes rows, closing the store overwrites what they leave behind.
        """
        self._check_file()
        with translated(self.path, self.secret):
            return self._with_writer(lambda connection: self._change(connection, work))

    async def rekey(self, key: Key | None) -> None:
        """Encrypt the file with another key, or with its first one; None decrypts it.

        Raises StorageFailedError where anybody else has the file open. A crash leaves the old file or the new one.
        """
        await run_in_thread(self._rekey, checked_key(key))

    def in_use(self) -> AbstractContextManager[None]:
        """Keep the process from forking while further connections to the file are open."""
        return self._connections.in_use()

    def wipe_now(self, wait_seconds: float) -> bool:
        """Overwrite what deleted rows left behind; False where another connection holds it up. It blocks."""
        if self._in_memory:
            return True
        self._has_deleted = False
        with translated(self.path, self.secret), self.in_use(), closing(self._connect(wait_seconds)) as connection:
            done = wipe(self.path, connection) if self.secret is None else empty_log(connection)
        self._has_deleted |= not done
        return done

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        if self._has_deleted and identity(self.path) == self._file:
            with suppress(StorageFailedError):  # the file is whole anyway, and closing goes on
                self.wipe_now(0)
        self._has_deleted = False
        with translated(self.path, self.secret):
            self._connections.close()

    def __repr__(self) -> str:
        return f"SqliteStore({self.path!r})"

    def _connect(self, busy_seconds: float | None = None) -> apsw.Connection:
        seconds = self._busy_seconds if busy_seconds is None else busy_seconds
        connection = connect(self.path, seconds, self.secret)
        check_version(connection, self.path)
        if self._in_memory or connection.readonly("main"):
            return connection
        if self._network:
            use_rollback_journal(connection)
        else:
            use_wal(connection)
        return connection

    def _check_file(self) -> None:
        """Refuse to go on where the file is gone: SQLite would write on into what nobody will find."""
        if not self._in_memory and identity(self.path) != self._file:
            raise StorageFailedError(
                f"the database {self.path} was deleted or replaced while it was open, and what is written now would "
                "be lost; close this store and open it again"
            )

    def _change(self, connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
        with noticed(connection) as deletions:
            result = _in_transaction(connection, "BEGIN IMMEDIATE", work)
        self._has_deleted |= deletions.seen
        return result

    def _with_writer(self, work: Callable[[apsw.Connection], T]) -> T:
        connection = self._connections.lock_writer()
        try:
            return work(connection)
        finally:
            self._connections.unlock_writer()

    def _set_up_history(self, wanted: History | bool | None) -> History | None:
        if wanted is None:
            return self._with_writer(lambda connection: histories.set_up(connection, None))
        self._has_deleted |= wanted is False
        return self.write(lambda connection: histories.set_up(connection, wanted))

    def _rekey(self, secret: Secret | None) -> None:
        if self._in_memory:
            raise MemoryInvalidError("a database in memory is not encrypted")
        with self._connections.at_rest(_REST_SECONDS):
            rekey(Path(self.path), self.secret, secret)
            self.secret, self._file = secret, identity(self.path)

    def _after_fork_in_child(self) -> None:
        self.cache = IndexCache(self.cache.budget)


def _checked_path(path: object) -> str:
    """Return an absolute path, so that a later change of the working folder changes nothing."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str) or not os.fspath(path):
        raise MemoryInvalidError(f'the path of a SqliteStore must be a path or ":memory:", not {path!r}')
    text = check_storable(os.fspath(path), "the path of a SqliteStore")
    return text if text == MEMORY else str(Path(text).absolute())


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
