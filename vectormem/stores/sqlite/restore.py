"""A backup put in place of a database, in one step that other processes see as one change."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from vectormem.errors import MemoryInvalidError, StorageFailedError
from vectormem.stores.sqlite.backup import Progress, Snapshot, copy_pages, examine, seal, table_names
from vectormem.stores.sqlite.connection import connect, open_untouched
from vectormem.stores.sqlite.draft import draft_of, put_in_place, refuse_existing
from vectormem.stores.sqlite.encryption import Secret
from vectormem.stores.sqlite.errors import translated
from vectormem.stores.sqlite.schema import migrate

_PATIENCE = 30.0
_VERSIONED = {"memory_keys": "log_start", "chat_keys": "last_deletion", "document_spaces": "log_start"}
_COUNTERS = (*_VERSIONED, "chat_conversations")
_LOGS = ("memory_changes", "document_changes")


def restore(
    source: Path, target: Path, secret: Secret | None, *, overwrite: bool, on_progress: Progress | None
) -> Snapshot:
    """Check a backup and put it in place of a database, which may be in use; return what it holds.

    Raises StorageFailedError where the backup is damaged, or the database exists and may not be replaced;
    nothing is changed then.
    """
    if not source.is_file():
        raise StorageFailedError(f"there is no backup {source}")
    if target.exists() and source.samefile(target):
        raise MemoryInvalidError(f"{source} is the database itself; name a backup of it")
    refuse_existing(target, overwrite=overwrite)
    with draft_of(target) as draft:
        _copy(source, draft, secret, on_progress)
        snapshot = _prepared(draft, secret)
        if target.exists():
            _write_over(draft, target, secret)
        else:
            _refuse_logs(target)
            put_in_place(draft, target, overwrite=False)
    with _opened(target, secret) as restored:
        found = examine(restored, str(target))
    if (found.keys, found.messages) != (snapshot.keys, snapshot.messages):
        raise StorageFailedError(f"{target} differs from {source}: others wrote while it was checked; look at it again")
    return found._replace(bytes=snapshot.bytes)


@contextmanager
def _opened(path: Path, secret: Secret | None) -> Iterator[apsw.Connection]:
    with translated(str(path), secret), closing(connect(str(path), _PATIENCE, secret)) as connection:
        yield connection


def _copy(source: Path, draft: Path, secret: Secret | None, on_progress: Progress | None) -> None:
    with translated(str(source), secret), closing(open_untouched(source, secret)) as backup:
        examine(backup, str(source))
        with _opened(draft, secret) as copy:
            copy_pages(backup, copy, on_progress)


def _prepared(draft: Path, secret: Secret | None) -> Snapshot:
    snapshot = seal(draft, secret)
    with _opened(draft, secret) as connection:
        migrate(connection, str(draft))
    return snapshot


def _write_over(draft: Path, target: Path, secret: Secret | None) -> None:
    """Replace the content of a database, as one write transaction in it."""
    with _opened(target, secret) as live, _opened(draft, secret) as copy:
        _refuse_foreign(live)
        _fit_pages(copy, live.execute("PRAGMA page_size").get)
        _outdate(copy, live)
        copy_pages(copy, live, None)


def _refuse_foreign(live: apsw.Connection) -> None:
    tables = table_names(live)
    if tables and "memory_items" not in tables:
        raise StorageFailedError(f"{live.filename} is a database of something else; it was left as it is")


def _fit_pages(copy: apsw.Connection, page_size: int) -> None:
    if copy.execute("PRAGMA page_size").get != page_size:
        copy.execute(f"PRAGMA page_size={page_size}")
        copy.execute("VACUUM")


def _outdate(copy: apsw.Connection, live: apsw.Connection) -> None:
    """Make every version in the copy newer than those of the database, so that no process goes by what it remembers."""
    migrate(live, live.filename)
    version = 1 + max(_newest_version(copy), _newest_version(live))
    sequences: list[Any] = live.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    given = dict(sequences)
    copy.execute("BEGIN IMMEDIATE")
    tables = table_names(copy)
    for table in tables.intersection(_LOGS):
        copy.execute(f"DELETE FROM {table}")
    for table in tables.intersection(_VERSIONED):
        copy.execute(f"UPDATE {table} SET version=?1, {_VERSIONED[table]}=?1", (version,))
    for table in _COUNTERS:
        _raise_counter(copy, table, given.get(table, 0))
    copy.execute("COMMIT")


def _newest_version(connection: apsw.Connection) -> int:
    tables = table_names(connection).intersection(_VERSIONED)
    return max(connection.execute(f"SELECT max(version) FROM {table}").get or 0 for table in tables)


def _raise_counter(copy: apsw.Connection, table: str, least: int) -> None:
    """Let numbers that the database has given out never be given out again."""
    copy.execute("UPDATE sqlite_sequence SET seq=max(seq, ?) WHERE name=?", (least, table))
    if not copy.changes() and least:
        copy.execute("INSERT INTO sqlite_sequence(name, seq) VALUES(?,?)", (table, least))


def _refuse_logs(target: Path) -> None:
    """Refuse logs of a database that is gone: SQLite would play them into the new file."""
    for suffix in ("-wal", "-journal"):
        log = Path(f"{target}{suffix}")
        if log.exists() and log.stat().st_size:
            raise StorageFailedError(f"{log} belongs to a database that is not there any more; move it away first")
