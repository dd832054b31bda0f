"""Tables beside the numbered ones, which a part of the program adds when it first writes to them."""

from collections.abc import Callable
from typing import TypeVar

import apsw

from vectormem.stores.sqlite.store import SqliteStore

T = TypeVar("T")


class Extension:
    """Tables of a `SqliteStore` that files without them gain by the first write, in its own transaction.

    `script` creates them, each statement with IF NOT EXISTS; `table` is one of them. The schema version
    of the file stays as it is.
    """

    def __init__(self, store: SqliteStore, *, table: str, script: str) -> None:
        self._store = store
        self._table = table
        self._script = script

    def read(self, work: Callable[[apsw.Connection], T], absent: T) -> T:
        """Return `work(connection)` on one state of the database, or `absent` where the tables are not there yet."""

        def look(connection: apsw.Connection) -> T:
            found = connection.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?", (self._table,)).get
            return work(connection) if found else absent

        return self._store.read(look)

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` in one write transaction, with the tables there."""

        def change(connection: apsw.Connection) -> T:
            connection.execute(self._script)
            return work(connection)

        return self._store.write(change)
