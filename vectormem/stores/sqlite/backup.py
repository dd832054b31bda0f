"""A copy of a database while it is in use: consistent, checked, and complete or absent."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import apsw

from vectormem.errors import MemoryInvalidError, StorageFailedError
from vectormem.stores.sqlite.connection import MEMORY, connect
from vectormem.stores.sqlite.database import Database
from vectormem.stores.sqlite.draft import draft_of, put_in_place, refuse_existing
from vectormem.stores.sqlite.encryption import Secret
from vectormem.stores.sqlite.errors import translated
from vectormem.stores.sqlite.wipe import overwrite_gaps

Progress: TypeAlias = Callable[[int, int], object]

_PAGES_AT_ONCE = 256
_PATIENCE = 5.0


class Snapshot(NamedTuple):
    """What a file holds: items by memory key, chat messages, and its size in bytes."""

    path: str
    keys: Mapping[str, int]
    messages: int
    bytes: int


def backup(database: Database, target: Path, *, overwrite: bool, on_progress: Progress | None) -> Snapshot:
    """Write a copy of one consistent state to `target`; writers go on meanwhile."""
    if database.path == MEMORY:
        raise MemoryInvalidError("a database in memory has no backup; open a file")
    if target == Path(database.path):
        raise MemoryInvalidError(f"{target} is the database itself; name another file for the backup")
    refuse_existing(target, overwrite=overwrite)
    with draft_of(target) as draft:
        database.read(lambda connection: _copy(connection, str(draft), database.secret, on_progress))
        snapshot = seal(draft, database.secret)
        put_in_place(draft, target, overwrite=overwrite)
        return snapshot._replace(path=str(target))


def _copy(source: apsw.Connection, target: str, secret: Secret | None, on_progress: Progress | None) -> None:
    source.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # from here on the state is fixed
    with translated(target, secret), closing(connect(target, _PATIENCE, secret)) as copy:
        copy.execute("PRAGMA synchronous=OFF")  # it is synced as a whole
        copy_pages(source, copy, on_progress)


def copy_pages(source: apsw.Connection, target: apsw.Connection, on_progress: Progress | None) -> None:
    """Put all pages of one database in place of those of another, in one transaction there."""
    with target.backup("main", source, "main") as run:
        while not run.done:
            run.step(_PAGES_AT_ONCE)
            if on_progress:
                on_progress(run.page_count - run.remaining, run.page_count)


def seal(path: Path, secret: Secret | None) -> Snapshot:
    """Make a copy one single file without leftovers of deleted rows, check it, and return what it holds."""
    with translated(str(path), secret), closing(connect(str(path), _PATIENCE, secret)) as connection:
        connection.pragma("journal_mode", "DELETE")
        snapshot = examine(connection, str(path))
    if secret is None:
        overwrite_gaps(str(path))
    return snapshot._replace(bytes=path.stat().st_size)


def examine(connection: apsw.Connection, path: str) -> Snapshot:
    """Return what a database holds. Raises StorageFailedError where it is damaged, or none of vectormem's."""
    damage = [str(message) for (message,) in connection.execute("PRAGMA integrity_check(3)")]
    if damage != ["ok"]:
        raise StorageFailedError(f"{path} is damaged: {'; '.join(damage)}")
    tables = table_names(connection)
    if "memory_items" not in tables:
        raise StorageFailedError(f"{path} is a SQLite database without vectormem's tables")
    keys: list[Any] = connection.execute("SELECT key, items FROM memory_keys WHERE items>0 ORDER BY key").fetchall()
    messages = connection.execute("SELECT count(*) FROM chat_messages").get if "chat_messages" in tables else 0
    return Snapshot(path, dict(keys), messages, 0)


def table_names(connection: apsw.Connection) -> set[str]:
    """Return the names of the tables of a database."""
    return {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
