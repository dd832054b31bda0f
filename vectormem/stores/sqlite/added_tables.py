"""Tables that a file gets when a part of the package that needs them is first used with it."""

from vectormem.stores.sqlite.store import SqliteStore


def ensure_tables(store: SqliteStore, table: str, sql: str) -> None:
    """Run `sql`, which creates tables IF NOT EXISTS, unless `table` is there. It blocks."""
    if not store.read(lambda connection: connection.execute(_HAS_TABLE, (table,)).fetchall()):
        store.write(lambda connection: connection.execute(sql).fetchall())


_HAS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?"
