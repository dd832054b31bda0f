"""Tables beside the numbered ones, which a part of the program adds to a file when it first writes to them."""

import apsw

from vectormem.stores.sqlite.connection import MEMORY
from vectormem.stores.sqlite.schema import migrate


class AddedTables:
    """Tables that files without them gain in the transaction of the first write; the schema version stays.

    `script` creates them, each statement with IF NOT EXISTS; `table` is the last one of them.
    """

    def __init__(self, *, table: str, script: str) -> None:
        self._table = table
        self._script = script

    def are_in(self, connection: apsw.Connection) -> bool:
        """Whether a database has them."""
        found = connection.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?", (self._table,)).get
        return found is not None

    def made_in(self, connection: apsw.Connection) -> apsw.Connection:
        """Make the tables where they are not there yet; return the connection."""
        if not self.are_in(connection):
            connection.execute(self._script)
        return connection

    def seen_in(self, connection: apsw.Connection) -> apsw.Connection:
        """Return the connection to read from: where the tables are not there yet, one that sees them empty."""
        if self.are_in(connection):
            return connection
        empty = apsw.Connection(MEMORY)
        migrate(empty, MEMORY)
        return self.made_in(empty)
