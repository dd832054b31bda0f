"""A change taken back: what it removed, cleared or replaced is put in its place again."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from vectormem.errors import MemoryInvalidError
from vectormem.stores.rows import Row
from vectormem.stores.sqlite.history import TABLES, History
from vectormem.stores.sqlite.recording import RecordedRows

_LAST = (
    "SELECT max(change) FROM history_entries WHERE key_id=? AND at>=? AND action IN ('remove', 'clear', 'replace')"
    " AND NOT by_undo AND NOT undone"
)
_ENTRIES = (
    "SELECT seq, item_id, text, metadata, created_at, embedder_id, embedding FROM history_entries"
    " WHERE key_id=? AND change=? AND at>=? AND text IS NOT NULL ORDER BY seq"
)


class Undone(NamedTuple):
    """What an undo of a change did, by item ids.

    `skipped` are items whose text is stored under another id by now, or that are there unchanged.
    """

    change: int
    restored: Sequence[str]
    skipped: Sequence[str]


def undo(connection: apsw.Connection, scope_key: str, history: History | None, change: int | None) -> Undone:
    """Put back what a change of a key took away, with ids, times, order and vectors; by default the last one.

    Raises MemoryInvalidError where there is nothing to take back.
    """
    if history is None or not TABLES.are_in(connection):
        raise MemoryInvalidError("no history is kept; SqliteStore(path, history=True) switches it on for the file")
    key_id = connection.execute("SELECT id FROM history_keys WHERE key=?", (scope_key,)).get
    number = connection.execute(_LAST, (key_id, history.oldest)).get if change is None else change
    entries: list[Any] = connection.execute(_ENTRIES, (key_id, number, history.oldest)).fetchall()
    if not entries:
        wanted = "no change" if change is None else f"nothing of change {change}"
        raise MemoryInvalidError(f"the history of {scope_key!r} holds {wanted} that could be undone")
    rows = RecordedRows(connection, scope_key, history, by_undo=True)
    restored = [entry[1] for entry in entries if _put_back(rows, Row(*entry[:5]), *entry[5:])]
    rows.finish()
    connection.execute("UPDATE history_entries SET undone=1 WHERE key_id=? AND change=?", (key_id, number))
    return Undone(number, restored, [entry[1] for entry in entries if entry[1] not in restored])


def _put_back(rows: RecordedRows, row: Row, embedder_id: int | None, embedding: bytes | None) -> bool:
    current, twin = rows.get(row.id), rows.find([row.text]).get(row.text)
    if twin is not None and twin.id != row.id:
        return False
    if current is not None:
        if current[2:] == row[2:]:
            return False
        rows.delete([current])
    rows.put_back(row, embedder_id, embedding)
    return True
