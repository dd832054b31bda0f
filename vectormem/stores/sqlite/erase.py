"""Everything of a scope key, removed for good and looked for in the bytes of the files."""

from collections.abc import Iterator
from typing import Any

import apsw

from vectormem.errors import StorageFailedError
from vectormem.stores.erasure import Erased, is_of_scope
from vectormem.stores.sqlite import checkpoints, conversations, document_space, history, raw, sessions
from vectormem.stores.sqlite.database import Database
from vectormem.stores.sqlite.erased_rows import erase_rows
from vectormem.stores.traces import Found, Traces

_ITEM_TABLES = ("memory_vectors", "memory_items", "memory_changes", "memory_copied")
_CHAT_TABLES = ("chat_vectors", "chat_messages", "chat_conversations")
_OTHERS = (sessions.erase, conversations.erase, document_space.erase, checkpoints.erase)
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
        f"{items} items, {erased.messages} chat messages and {erased.others} other rows of {scope_key!r} were removed "
        f"from {len(erased.keys)} keys"
    )


def _delete(connection: apsw.Connection, scope_key: str, traces: Traces) -> Erased:
    history_entries = history.erase(connection, lambda key: is_of_scope(key, scope_key), traces)
    found: list[Any] = connection.execute("SELECT id, key, items FROM memory_keys ORDER BY key").fetchall()
    memories = [row for row in found if is_of_scope(row[1], scope_key)]
    for key_id, _, _ in memories:
        for table in _ITEM_TABLES:
            erase_rows(connection, table, "key_id=?", key_id, traces)
        erase_rows(connection, "memory_keys", "id=?", key_id, traces)
    messages = _delete_chats(connection, scope_key, traces)
    others = sum(erase_others(connection, scope_key, traces) for erase_others in _OTHERS)
    return Erased({key: items for _, key, items in memories}, messages, history_entries, others)


def _delete_chats(connection: apsw.Connection, scope_key: str, traces: Traces) -> int:
    key_id = connection.execute("SELECT id FROM chat_keys WHERE key=?", (scope_key,)).get
    connection.execute("DELETE FROM chat_words WHERE key_id=?", (key_id,))  # the messages hold the words
    counts = {table: erase_rows(connection, table, "key_id=?", key_id, traces) for table in _CHAT_TABLES}
    erase_rows(connection, "chat_keys", "id=?", key_id, traces)
    return counts["chat_messages"]


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
