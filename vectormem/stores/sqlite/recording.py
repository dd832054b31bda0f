"""Rows of a key whose changes are kept in the history."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from vectormem.stores.rows import Draft, Embeddings, Row
from vectormem.stores.sqlite.history import TABLES, Action, History, expire
from vectormem.stores.sqlite.rows import SqlRows


class _Change(NamedTuple):
    """What happens to an item: the row before it with its vector, or the row that is added."""

    action: Action
    row: Row
    embedder_id: int | None = None
    embedding: bytes | None = None


def changing_rows(connection: apsw.Connection, scope_key: str, history: History | None) -> SqlRows:
    """Return the rows of a key for a change."""
    return SqlRows(connection, scope_key) if history is None else RecordedRows(connection, scope_key, history)


class RecordedRows(SqlRows):
    """Rows that write into the history what was done to them, in `finish`."""

    def __init__(self, connection: apsw.Connection, scope_key: str, history: History, *, by_undo: bool = False) -> None:
        super().__init__(connection, scope_key)
        self._history = history
        self._by_undo = by_undo
        self._deletion: Action = "remove"
        self._gone: list[_Change] = []
        self._added: dict[str, Row] = {}

    def insert(self, drafts: Sequence[Draft], embeddings: Embeddings) -> list[Row]:
        rows = super().insert(drafts, embeddings)
        self._added |= {row.id: row for row in rows}
        return rows

    def put_back(self, row: Row, embedder_id: int | None, embedding: bytes | None) -> Row:
        placed = super().put_back(row, embedder_id, embedding)
        self._added[placed.id] = placed
        return placed

    def delete(self, rows: Iterable[Row]) -> None:
        gone = list(rows)
        self._gone += [_Change(self._deletion, row, *self._vector(row)) for row in gone]
        super().delete(gone)

    def trim(self, max_items: int | None) -> list[Row]:
        self._deletion = "evict"
        try:
            return super().trim(max_items)
        finally:
            self._deletion = "remove"

    def clear(self) -> int:
        self._gone += [_Change("clear", row, *self._vector(row)) for row in reversed(self.newest())]
        return super().clear()

    def finish(self) -> None:
        super().finish()
        ids = {change.row.id for change in self._gone}
        changes = [*map(self._named, self._gone), *(_Change("add", row) for row in self._new_rows(ids))]
        if changes and TABLES.are_in(self._connection):  # another process may have switched it off
            self._write(changes)

    def _named(self, change: _Change) -> _Change:
        replaced = change.action == "remove" and change.row.id in self._added
        return change._replace(action="replace") if replaced else change

    def _new_rows(self, replaced: set[str]) -> Iterable[Row]:
        return (row for row in self._added.values() if row.id not in replaced)

    def _vector(self, row: Row) -> tuple[int | None, bytes | None]:
        sql = "SELECT embedder_id, embedding FROM memory_vectors WHERE key_id=? AND seq=?"
        return self._one(sql, self.key_id, row.seq) or (None, None)

    def _write(self, changes: Iterable[_Change]) -> None:
        key_id, number = self._one(
            "INSERT INTO history_keys(key, changes) VALUES(?,1)"
            " ON CONFLICT(key) DO UPDATE SET changes=changes+1 RETURNING id, changes",
            self.scope_key,
        )
        values = (key_id, number, self._history.now, self._history.name)
        self._connection.executemany(
            "INSERT INTO history_entries(key_id, change, at, actor, action, by_undo, item_id, seq, text, metadata,"
            " created_at, embedder_id, embedding) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
            ((*values, change.action, self._by_undo, *_stored(change)) for change in changes),
        )
        expire(self._connection, self._history, key_id)


def _stored(change: _Change) -> tuple[Any, ...]:
    row = change.row
    if change.action == "add":
        return row.id, row.seq, None, None, None, None, None
    return row.id, row.seq, row.text, row.metadata, row.created_at, change.embedder_id, change.embedding
