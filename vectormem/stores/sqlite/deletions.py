"""Whether a transaction has deleted rows, seen in its statements."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


class Deletions:
    """Looks at each statement before it runs; `seen` tells whether one before it has deleted or replaced rows."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._before: int | None = None
        self.seen = False

    def __call__(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if self._before is not None:
            self.seen |= self._connection.total_changes() != self._before
            self._before = None
        if not self.seen and ("DELETE" in sql or "REPLACE" in sql):  # every row that is written comes by here
            self._before = self._connection.total_changes()
        return True


@contextmanager
def noticed(connection: apsw.Connection) -> Iterator[Deletions]:
    """Notice what statements in capital letters delete, up to the last but one: a COMMIT is one too."""
    connection.exec_trace = deletions = Deletions(connection)
    try:
        yield deletions
    finally:
        connection.exec_trace = None
