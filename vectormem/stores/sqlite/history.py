"""Who changed which items and when, kept in tables of its own once it is switched on for a file."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeAlias

import apsw

from vectormem.checks import check_positive
from vectormem.errors import MemoryInvalidError
from vectormem.origin import utc_now
from vectormem.stores.rows import from_microseconds, to_microseconds
from vectormem.stores.sqlite.added_tables import AddedTables
from vectormem.stores.sqlite.erased_rows import erase_rows
from vectormem.stores.traces import Traces

Action: TypeAlias = Literal["add", "replace", "remove", "clear", "evict"]
Actor: TypeAlias = str | Callable[[], str | None] | None

_MICROSECOND = timedelta(microseconds=1)
TABLES = AddedTables(
    table="history_entries",
    script="""
CREATE TABLE IF NOT EXISTS history_settings (
    id INTEGER PRIMARY KEY CHECK (id=1),
    max_entries INTEGER NOT NULL, -- kept for each key
    max_age INTEGER NOT NULL      -- microseconds
);
CREATE TABLE IF NOT EXISTS history_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    changes INTEGER NOT NULL      -- numbers of changes given out so far
);
CREATE TABLE IF NOT EXISTS history_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key_id INTEGER NOT NULL REFERENCES history_keys(id),
    change INTEGER NOT NULL,      -- what one call changed has one number
    at INTEGER NOT NULL,          -- microseconds since 1970, UTC
    actor TEXT,
    action TEXT NOT NULL,
    by_undo INTEGER NOT NULL,     -- 1 where an undo made the change
    undone INTEGER NOT NULL DEFAULT 0,
    item_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    text TEXT,                    -- the item as it was before; NULL for an item that was added
    metadata TEXT,
    created_at INTEGER,
    embedder_id INTEGER REFERENCES memory_embedders(id),
    embedding BLOB
);
CREATE INDEX IF NOT EXISTS history_by_key ON history_entries(key_id, id);
CREATE INDEX IF NOT EXISTS history_by_time ON history_entries(at);
""",
)
_NAMES = ("history_entries", "history_keys", "history_settings")


@dataclass(frozen=True)
class History:
    """What is kept of changes: up to `max_entries` for each key, and none for longer than `max_age`.

    `actor` says who makes the changes of this store: a name, or a function that is called at each change.
    """

    max_entries: int = 10_000
    max_age: timedelta = timedelta(days=30)
    actor: Actor = None
    clock: Callable[[], datetime] = utc_now

    def __post_init__(self) -> None:
        check_positive(self.max_entries, "max_entries")
        if not isinstance(self.max_age, timedelta) or self.max_age <= timedelta(0):
            raise MemoryInvalidError(f"max_age must be a timedelta above zero, not {self.max_age!r}")
        if not (self.actor is None or isinstance(self.actor, str) or callable(self.actor)):
            raise MemoryInvalidError(f"actor must be a name, a function that returns one, or None; not {self.actor!r}")

    @property
    def name(self) -> str | None:
        """Who makes the change that goes on."""
        return self.actor() if callable(self.actor) else self.actor

    @property
    def now(self) -> int:
        """The time in microseconds since 1970."""
        return to_microseconds(self.clock())

    @property
    def oldest(self) -> int:
        """The time before which nothing is kept, in microseconds since 1970."""
        return self.now - self.max_age // _MICROSECOND


class HistoryEntry(NamedTuple):
    """What happened to one item. `change` is the number of the call that did it, counted for each key.

    `text`, `metadata` (JSON text) and `created_at` are the item's before; None for an item that was added.
    """

    change: int
    at: datetime
    actor: str | None
    action: Action
    item_id: str
    text: str | None
    metadata: str | None
    created_at: datetime | None
    by_undo: bool
    undone: bool


def checked(history: object) -> History | bool | None:
    """Return what may be given for `history`."""
    if history is None or isinstance(history, bool | History):
        return history
    raise MemoryInvalidError(f"history must be True, False, None or a History, not {history!r}")


def set_up(connection: apsw.Connection, wanted: History | bool | None) -> History | None:
    """Switch the history of a file on or off, or leave it as it is; return what holds for it now."""
    if wanted is False:
        for table in _NAMES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        return None
    if wanted is None:
        return _found(connection)
    history = History() if wanted is True else wanted
    TABLES.made_in(connection)
    connection.execute(
        "INSERT OR REPLACE INTO history_settings VALUES(1,?,?)", (history.max_entries, history.max_age // _MICROSECOND)
    )
    expire(connection, history)
    return history


def _found(connection: apsw.Connection) -> History | None:
    if not TABLES.are_in(connection):
        return None
    settings: Any = connection.execute("SELECT max_entries, max_age FROM history_settings").fetchall()[0]
    return History(settings[0], settings[1] * _MICROSECOND)


def expire(connection: apsw.Connection, history: History, key_id: int | None = None) -> None:
    """Delete what is too old in any key, and what is too much in this one."""
    connection.execute("DELETE FROM history_entries WHERE at<?", (history.oldest,))
    if key_id is not None:
        connection.execute(
            "DELETE FROM history_entries WHERE key_id=?1 AND id<=(SELECT id FROM history_entries WHERE key_id=?1"
            " ORDER BY id DESC LIMIT 1 OFFSET ?2)",
            (key_id, history.max_entries),
        )


def entries(
    connection: apsw.Connection, scope_key: str, history: History | None, limit: int | None
) -> list[HistoryEntry]:
    """Return what happened in a key, newest first."""
    if history is None or not TABLES.are_in(connection):
        return []
    found = connection.execute(
        "SELECT change, at, actor, action, item_id, text, metadata, created_at, by_undo, undone FROM history_entries"
        " WHERE key_id=(SELECT id FROM history_keys WHERE key=?) AND at>=? ORDER BY id DESC LIMIT ?",
        (scope_key, history.oldest, -1 if limit is None else limit),
    )
    return list(map(_entry, found))


def _entry(row: Any) -> HistoryEntry:
    change, at, actor, action, item_id, text, metadata, created_at, by_undo, undone = row
    moment = None if created_at is None else from_microseconds(created_at)
    return HistoryEntry(
        change,
        from_microseconds(at),
        actor,
        action,
        item_id,
        text,
        metadata,
        moment,
        bool(by_undo),
        bool(undone),
    )


def erase(connection: apsw.Connection, is_erased: Callable[[str], bool], traces: Traces) -> int:
    """Delete the history of keys, having told `traces` what it held; return how many entries there were."""
    if not TABLES.are_in(connection):
        return 0
    keys: list[Any] = connection.execute("SELECT id, key FROM history_keys").fetchall()
    return sum(_erase_key(connection, key_id, traces) for key_id, key in keys if is_erased(key))


def _erase_key(connection: apsw.Connection, key_id: int, traces: Traces) -> int:
    count = erase_rows(connection, "history_entries", "key_id=?", key_id, traces)
    erase_rows(connection, "history_keys", "id=?", key_id, traces)
    return count
