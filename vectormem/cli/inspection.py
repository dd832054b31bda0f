"""What the tables of a database hold, read in SQL that SQLite and Postgres understand alike."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import apsw

if TYPE_CHECKING:
    from vectormem.cli.opening import Store
    from vectormem.stores.chat_rows import Database

T = TypeVar("T")

_AT_ONCE = 1000


class Tables(NamedTuple):
    """The tables within one transaction, and how the number of a vector's dimensions is written there."""

    database: "Database"
    dimensions: str


class KeyCount(NamedTuple):
    """How many items a key holds."""

    key: str
    items: int


class VectorCount(NamedTuple):
    """How many vectors of one embedder and length a key holds."""

    key: str
    embedder: str
    dimensions: int
    vectors: int


class ExportedRow(NamedTuple):
    """An item as it is stored: `metadata` is JSON text, `created_at` microseconds since 1970."""

    key: str
    id: str
    text: str
    created_at: int
    metadata: str | None


def inspect(store: "Store", work: Callable[[Tables], T]) -> T:
    """Return `work(tables)` on one consistent state of the database."""
    from vectormem.stores.postgres.store import PostgresStore

    if isinstance(store, PostgresStore):
        from vectormem.stores.postgres.chats import PostgresDatabase

        return store.read(lambda connection: work(Tables(PostgresDatabase(connection), "v.dimensions")))
    return store.read(lambda connection: work(sqlite_tables(connection)))


def sqlite_tables(connection: apsw.Connection) -> Tables:
    """Return the tables of a SQLite database."""
    from vectormem.stores.sqlite.chats import SqliteDatabase

    return Tables(SqliteDatabase(connection), "length(v.embedding) / 4")


def key_counts(tables: Tables, key: str | None = None) -> list[KeyCount]:
    """Return the keys that hold items, sorted; with `key`, only that one."""
    found = tables.database.query(
        f"SELECT k.key, k.items FROM memory_keys AS k WHERE k.items>0{_of(key)} ORDER BY k.key", *_given(key)
    )
    return list(map(KeyCount._make, found))


def all_keys(tables: Tables) -> list[str]:
    """Return all keys, sorted, also those whose items are gone: a migration into them may be remembered."""
    return [key for (key,) in tables.database.query("SELECT key FROM memory_keys ORDER BY key")]


def vector_counts(tables: Tables, key: str | None = None) -> list[VectorCount]:
    """Return how many vectors each embedder has made in each key."""
    found = tables.database.query(
        f"SELECT k.key, e.name, {tables.dimensions}, count(*) FROM memory_keys AS k"
        " JOIN memory_vectors AS v ON v.key_id=k.id JOIN memory_embedders AS e ON e.id=v.embedder_id"
        f" WHERE k.items>0{_of(key)} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        *_given(key),
    )
    return list(map(VectorCount._make, found))


def exported_rows(tables: Tables, key: str | None = None) -> Iterator[ExportedRow]:
    """Yield items key by key, oldest first; with `key`, only its items."""
    for own_key, _ in key_counts(tables, key):
        last = 0
        while rows := list(tables.database.query(_PAGE, own_key, last)):
            last = rows[-1][0]
            yield from (ExportedRow(own_key, *row[1:]) for row in rows)


def export_rows(store: "Store", key: str | None, write: Callable[[Iterator[ExportedRow]], T]) -> T:
    """Return `write(rows)` on one consistent state of a file, or of each key of a server.

    `write` may take long, or have begun to print, which no transaction of a server must wait for or repeat.
    """
    from vectormem.stores.sqlite.store import SqliteStore

    if isinstance(store, SqliteStore):
        return inspect(store, lambda tables: write(exported_rows(tables, key)))
    keys = [count.key for count in inspect(store, lambda tables: key_counts(tables, key))]
    return write(chain.from_iterable(_rows_of_key(store, own_key) for own_key in keys))


def _rows_of_key(store: "Store", key: str) -> list[ExportedRow]:
    return inspect(store, lambda tables: list(exported_rows(tables, key)))


_PAGE = (
    "SELECT i.seq, i.id, i.text, i.created_at, i.metadata FROM memory_items AS i"
    f" WHERE i.key_id=(SELECT id FROM memory_keys WHERE key=?) AND i.seq>? ORDER BY i.seq LIMIT {_AT_ONCE}"
)


def _of(key: str | None) -> str:
    return "" if key is None else " AND k.key=?"


def _given(key: str | None) -> tuple[str, ...]:
    return () if key is None else (key,)
