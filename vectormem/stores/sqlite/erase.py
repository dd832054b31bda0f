"""Everything of a scope key, removed for good and looked for in the bytes of the files."""

from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from vectormem.errors import StorageFailedError
from vectormem.stores.erasure import Erased, is_of_scope
from vectormem.stores.sqlite import history, raw
from vectormem.stores.sqlite.database import Database
from vectormem.stores.traces import Found, Traces

_ITEM_TABLES = ("memory_vectors", "memory_items", "memory_changes", "memory_copied")
_CHAT_TABLES = ("chat_vectors", "chat_words", "chat_messages", "chat_conversations")
_TEXTS = (
    ("SELECT id, text, metadata FROM memory_items WHERE key_id=?", "memory_keys"),
    ("SELECT id, content, metadata FROM chat_messages WHERE key_id=?", "chat_keys"),
    ("SELECT name FROM chat_conversations WHERE key_id=?", "chat_keys"),
    ("SELECT id FROM memory_copied WHERE key_id=?", "memory_keys"),
)
_VECTORS = (
    ("SELECT embedding FROM memory_vectors WHERE key_id=?", "memory_keys"),
    ("SELECT embedding FROM chat_vectors WHERE key_id=?", "chat_keys"),
)
_ROWS_TOGETHER = 1000


def erase(database: Database, scope_key: str, wait_seconds: float) -> Erased:
    """Remove everything of a scope key from the tables, then from the bytes of the files.

    Raises StorageFailedError where an open reader holds old bytes in the log, or where some were found.
    """
    traces = Traces()
    erased = database.write(lambda connection: _delete(connection, scope_key, traces))
    for key in (*erased.keys, scope_key):
        database.cache.forget(key)
    if not database.wipe_now(wait_seconds):
        raise StorageFailedError(
            f"{_told(erased, scope_key)}, but their bytes may still stand in {database.path}{raw.LOG}: another "
            f"connection, perhaps of another process, has held the database open for reading or writing for "
            f"{wait_seconds:g} seconds; end it and erase the key again"
        )
    if database.secret is None and (places := _places_with_traces(database, traces)):
        raise StorageFailedError(
            f"{_told(erased, scope_key)}, but bytes of them still stand in {', '.join(places)}; erase the key again, "
            "and check the file with `vectormem doctor` where that does not help"
        )
    return erased


def _told(erased: Erased, scope_key: str) -> str:
    items = sum(erased.keys.values())
    return (
        f"{items} items and {erased.messages} chat messages of {scope_key!r} were removed from {len(erased.keys)} keys"
    )


def _delete(connection: apsw.Connection, scope_key: str, traces: Traces) -> Erased:
    memories = {
        key: (key_id, items)
        for key_id, key, items in connection.execute("SELECT id, key, items FROM memory_keys ORDER BY key")
        if is_of_scope(key, scope_key)
    }
    chats = [key_id for (key_id,) in connection.execute("SELECT id FROM chat_keys WHERE key=?", (scope_key,))]
    owners = {"memory_keys": [key_id for key_id, _ in memories.values()], "chat_keys": chats}
    for text in _texts(connection, owners, memories):
        traces.add_text(text)
    for vector in _values(connection, _VECTORS, owners):
        traces.add_vector(vector)
    kept = history.erase(connection, lambda key: is_of_scope(key, scope_key), traces)
    messages = sum(_count(connection, "chat_messages", key_id) for key_id in chats)
    _delete_rows(connection, _ITEM_TABLES, "memory_keys", owners["memory_keys"])
    _delete_rows(connection, _CHAT_TABLES, "chat_keys", chats)
    return Erased({key: items for key, (_, items) in memories.items()}, messages, kept)


def _texts(connection: apsw.Connection, owners: dict[str, list[int]], memories: Iterable[str]) -> Iterator[str]:
    yield from memories
    yield from (value for value in _values(connection, _TEXTS, owners) if value is not None)


def _values(
    connection: apsw.Connection, queries: Iterable[tuple[str, str]], owners: dict[str, list[int]]
) -> Iterator[Any]:
    for sql, table in queries:
        for key_id in owners[table]:
            for row in connection.execute(sql, (key_id,)):
                yield from row


def _count(connection: apsw.Connection, table: str, key_id: int) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table} WHERE key_id=?", (key_id,)).get)


def _delete_rows(connection: apsw.Connection, tables: Iterable[str], key_table: str, key_ids: Iterable[int]) -> None:
    for key_id in key_ids:
        for table in tables:
            connection.execute(f"DELETE FROM {table} WHERE key_id=?", (key_id,))
        connection.execute(f"DELETE FROM {key_table} WHERE id=?", (key_id,))


def _places_with_traces(database: Database, traces: Traces) -> list[str]:
    """Return the files that hold bytes of what was erased which no remaining row explains."""
    found: dict[str, Found] = {}
    for suffix in raw.existing(database.path):
        with database.in_use(), raw.opened(database.path, suffix) as file:
            found[database.path + suffix] = traces.find(raw.chunks(file))
    if not any(found.values()):
        return []
    explained = database.read(lambda connection: traces.find(_live_values(connection)))
    return [path for path, pieces in found.items() if pieces - explained]


def _live_values(connection: apsw.Connection) -> Iterator[bytes]:
    """Yield all that the tables of the file hold, whosever they are: an equal text may be stored elsewhere too."""
    named = "SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0"
    for (table,) in connection.execute(named).fetchall():
        batch: list[bytes] = []
        for row in connection.execute(f'SELECT * FROM "{_quoted(table)}"'):
            batch += [value if isinstance(value, bytes) else str(value).encode() for value in row]
            if len(batch) > _ROWS_TOGETHER:
                yield b"\0\0".join(batch)
                batch = []
        yield b"\0\0".join(batch)
    yield b"\0\0".join(str(sql).encode() for (sql,) in connection.execute("SELECT sql FROM sqlite_schema"))


def _quoted(table: object) -> str:
    return str(table).replace('"', '""')
