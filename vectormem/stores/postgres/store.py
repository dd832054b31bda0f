"""One Postgres database for everything: items, vectors and chats, shared by any number of machines."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from vectormem.canonical import check_storable
from vectormem.checks import check_positive
from vectormem.concurrency import Closable, ForkAware
from vectormem.errors import MemoryInvalidError, MissingExtraError
from vectormem.stores.cache import IndexCache

if TYPE_CHECKING:
    from vectormem.stores.postgres.connection import Connection
    from vectormem.stores.postgres.transaction import Mode

P = ParamSpec("P")
T = TypeVar("T")

_MOST_CONFLICTS = 20
_LONGEST_NAME = 63


class PostgresStore(Closable, ForkAware):
    """An open Postgres database with pgvector 0.8 or newer; share one among the providers of a process.

    `dsn` is all that it takes: "postgresql://user:password@host:5432/database", with any option of libpq.
    The tables lie in the schema `schema` and are made, or brought up to date, at opening. Any number of
    processes and machines may use one database; up to `pool_size` calls of this store run at once, in
    threads of its own. Connecting takes up to `connect_seconds`, any other single wait (for the server, for
    another change of the key, for a free connection) up to `wait_seconds`. A connection that was lost is
    opened anew by the next call. `cache_bytes` bounds the vectors of chats kept in memory. With
    `builds_indexes`, a key of more than eight million values (20,000 items of 384 dimensions) gets an HNSW
    index in the background once it is searched. `prepares` says whether statements that come again are
    prepared, which some poolers cannot pass on. Without `creates_tables`, a database that has none of vectormem's
    tables is refused in place of getting them. Raises StorageFailedError where the server cannot be
    reached, lacks pgvector or holds a newer schema, and MissingExtraError without the extra `postgres`.
    """

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = "vectormem",
        pool_size: int = 10,
        connect_seconds: float = 5.0,
        wait_seconds: float = 30.0,
        cache_bytes: int = 512 * 2**20,
        builds_indexes: bool = True,
        prepares: bool = True,
        creates_tables: bool = True,
    ) -> None:
        check_extra()
        from vectormem.stores.postgres.connections import Connections
        from vectormem.stores.postgres.dsn import parse_dsn
        from vectormem.stores.postgres.indexes import Indexes

        self._options, self.shown = parse_dsn(dsn)
        self.schema = _check_schema(schema)
        self.cache = IndexCache(check_positive(cache_bytes, "cache_bytes"))
        self._pool_size = check_positive(pool_size, "pool_size")
        self._connect_seconds = _check_seconds(connect_seconds, "connect_seconds")
        self._wait_seconds = _check_seconds(wait_seconds, "wait_seconds")
        self._prepares = bool(prepares)
        self._connections = Connections(
            self.shown, self._connect, size=self._pool_size, wait_seconds=self._wait_seconds
        )
        self._search_path = self._prepare(creates=bool(creates_tables))
        self._new_indexes = partial(Indexes, self._connect_to_build, builds=builds_indexes)
        self.indexes = self._new_indexes()
        self._renew_threads()
        super().__init__()

    def read(self, work: "Callable[[Connection], T]") -> T:
        """Return `work(connection)` on one consistent state of the database. It blocks."""
        return self._transact("read", work)

    def write(self, work: "Callable[[Connection], T]") -> T:
        """Return `work(connection)` in one transaction: all of it is stored, or nothing. It blocks.

        Where another transaction has got in the way, `work` is called again on what that one has stored.
        """
        return self._transact("write", work)

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking function in a thread of this store, so that a slow server holds up no other work."""
        call = partial(contextvars.copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self.indexes.close()
        self._connections.close()

    def __repr__(self) -> str:
        return f"PostgresStore({self.shown!r}, schema={self.schema!r})"

    def _transact(self, mode: "Mode", work: "Callable[[Connection], T]") -> T:
        from psycopg import errors

        from vectormem.stores.postgres.errors import translated

        conflicts = (
            errors.UniqueViolation,
            errors.ExclusionViolation,
            errors.DeadlockDetected,
            errors.SerializationFailure,
        )
        with translated(self.shown):
            for _ in range(_MOST_CONFLICTS):
                with suppress(*conflicts):
                    return self._transact_once(mode, work)
            return self._transact_once(mode, work)

    def _transact_once(self, mode: "Mode", work: "Callable[[Connection], T]") -> T:
        """Do it; where a connection proves to be lost that was idle for a while, do it on a new one."""
        from psycopg import errors

        from vectormem.stores.postgres.errors import LostBeforeCommitError
        from vectormem.stores.postgres.transaction import transact

        connection, is_new = self._connections.take()
        try:
            return transact(connection, mode, self._search_path, work)
        except LostBeforeCommitError:
            if is_new:
                raise
            self._connections.forget_idle()
        except errors.ReadOnlySqlTransaction:  # this server was the primary once: connect anew
            connection.close()
            self._connections.forget_idle()
            raise
        finally:
            self._connections.give_back(connection)
        return self._transact_once(mode, work)

    def _connect(self) -> "Connection":
        from vectormem.stores.postgres.connection import learn_vectors

        connection = self._open()
        try:
            learn_vectors(connection, self._search_path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> "Connection":
        from vectormem.stores.postgres.connection import connect

        return connect(
            self._options,
            connect_seconds=self._connect_seconds,
            wait_seconds=self._wait_seconds,
            prepares=self._prepares,
        )

    def _connect_to_build(self) -> "tuple[Connection, str]":
        return self._open(), self._search_path

    def _prepare(self, *, creates: bool) -> str:
        from vectormem.stores.postgres.errors import translated
        from vectormem.stores.postgres.schema import prepare

        with translated(self.shown), self._open() as connection:
            return prepare(connection, self.schema, self.shown, creates=creates)

    def _renew_threads(self) -> None:
        self._threads = ThreadPoolExecutor(self._pool_size, thread_name_prefix="vectormem-postgres")

    def _after_fork_in_child(self) -> None:
        self.cache = IndexCache(self.cache.budget)
        self.indexes = self._new_indexes()
        self._renew_threads()


def is_dsn(value: object) -> bool:
    """Whether a string names a Postgres database, and not a file."""
    return isinstance(value, str) and value.startswith(("postgresql://", "postgres://"))


def check_extra() -> None:
    """Raise MissingExtraError where the driver is not installed."""
    try:
        import pgvector.psycopg  # noqa: F401  # it brings psycopg in
    except ImportError as error:
        raise MissingExtraError(
            f"a PostgresStore needs psycopg and pgvector ({error}); "
            "install them with: pip install 'vectormem[postgres]'"
        ) from error


def _check_schema(schema: object) -> str:
    if not isinstance(schema, str) or not schema.strip() or len(schema.encode(errors="replace")) > _LONGEST_NAME:
        raise MemoryInvalidError(f"schema must be a name of 1 to {_LONGEST_NAME} bytes, not {schema!r}")
    return check_storable(schema, "schema")


def _check_seconds(seconds: object, name: str) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e6:
        raise MemoryInvalidError(f"{name} must be a number of seconds above 0, not {seconds!r}")
    return float(seconds)
