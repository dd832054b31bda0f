"""Postgres connections as vectormem opens them: no wait on them lasts for ever."""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

T = TypeVar("T")

_USES_BEFORE_PREPARING = 5
_SERVER_FIRST_SECONDS = 2.0  # so that the server, which knows the reason, says first that it took too long


class SilentServerError(psycopg.OperationalError):
    """The server has not said a word for too long; asking it again would only take as long again."""


class Connection(psycopg.Connection[TupleRow]):
    """A connection that closes itself when the server has been silent for `wait_seconds`."""

    wait_seconds: float = 30.0
    is_unconfirmed: bool = False
    _current: psycopg.Pipeline | None = None

    @contextmanager
    def sending_ahead(self) -> Iterator[None]:
        """Send statements as they come, and wait where a query is answered and at the end."""
        try:
            with self.pipeline() as self._current:
                yield
        finally:
            self._current = None

    def query(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a query.

        The server is brought in step by it, else it would not notice that a transaction is idle for too long.
        """
        cursor = self.execute(sql, values, binary=True)
        if self._current is not None:
            self._current.sync()
        return cursor.fetchall()

    def note_unconfirmed(self, notice: psycopg.errors.Diagnostic) -> None:
        """Remember that a commit returned before a synchronous standby had it; the server only warns of that."""
        if notice.source_function == "SyncRepWaitForLSN":
            self.is_unconfirmed = True

    def __del__(self) -> None:  # type: ignore[override]  # psycopg's has a wrapper
        """End with the program, without psycopg's warning: a store may be open until then."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        """Wait for an answer of the server."""
        return super().wait(self._limited(gen), *args, **kwargs)

    def _limited(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        deadline = time.monotonic() + self.wait_seconds + _SERVER_FIRST_SECONDS
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    deadline = time.monotonic() + self.wait_seconds + _SERVER_FIRST_SECONDS
                elif time.monotonic() > deadline:
                    self.close()
                    raise SilentServerError(f"the server was silent for {self.wait_seconds:g} s")
                state = gen.send(ready)
        except StopIteration as stop:
            result: T = stop.value
            return result


def connect(options: dict[str, str], *, connect_seconds: float, wait_seconds: float, prepares: bool) -> Connection:
    """Open a connection; dead networks are noticed by keepalives, also while nothing is sent."""
    patient = {
        "connect_timeout": str(max(2, round(connect_seconds))),
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": str(max(1, round(wait_seconds * 1000))),
        "application_name": "vectormem",
    }
    conninfo = make_conninfo(**{**patient, **options})
    threshold = _USES_BEFORE_PREPARING if prepares else None
    connection = Connection.connect(conninfo, autocommit=True, prepare_threshold=threshold)
    connection.wait_seconds = wait_seconds
    connection.add_notice_handler(connection.note_unconfirmed)
    return connection


def learn_vectors(connection: Connection, search_path: str) -> None:
    """Teach the connection the types of pgvector."""
    with connection.transaction():
        connection.execute("SELECT set_config('search_path', %s, true)", (search_path,))
        register_vector(connection)
