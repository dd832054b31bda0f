"""Another key for an encrypted database, or its first or last one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from vectormem.errors import MissingExtraError, StorageFailedError
from vectormem.stores.sqlite import raw
from vectormem.stores.sqlite.backup import examine
from vectormem.stores.sqlite.connection import connect
from vectormem.stores.sqlite.draft import draft_of, put_in_place
from vectormem.stores.sqlite.encryption import Secret, can_encrypt
from vectormem.stores.sqlite.errors import translated

_PATIENCE = 5.0


def rekey(path: Path, old: Secret | None, new: Secret | None) -> None:
    """Encrypt a database anew into a file of its own, which takes its place at once when it is complete.

    Nobody else may have the database open: raises StorageFailedError. After a crash at any moment, the database is
    the old one with the old key, or the new one with the new key.
    """
    with _alone(path, old) as connection, draft_of(path) as draft:
        before = examine(connection, str(path))
        connection.execute("VACUUM INTO ?", (str(draft),))
        with _opened(draft, old) as copy:
            copy.execute("PRAGMA journal_mode=OFF")
            _change_key(copy, new)
        with _opened(draft, new) as copy:
            after = examine(copy, str(draft))
        if (before.keys, before.messages) != (after.keys, after.messages):
            raise StorageFailedError(f"{path} was left as it is: the copy with the new key differs from it")
        with raw.opened(str(path), writable=True) as replaced:
            put_in_place(draft, path, overwrite=True)
            with suppress(apsw.Error):  # the new file is in place: the old one has no name any more
                _overwrite(replaced)


def _change_key(connection: apsw.Connection, new: Secret | None) -> None:
    if not can_encrypt():
        raise MissingExtraError("only SQLite3 Multiple Ciphers changes keys: pip install apsw-sqlite3mc")
    if new is None:
        connection.execute("PRAGMA rekey=''")
    else:
        new.replace(connection)


@contextmanager
def _alone(path: Path, secret: Secret | None) -> Iterator[apsw.Connection]:
    """Give a connection that no other one, of any process, can work beside."""
    with _opened(path, secret) as connection:
        try:
            connection.pragma("locking_mode", "EXCLUSIVE")
            mode = connection.pragma("journal_mode", "DELETE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except apsw.BusyError:
            mode = "wal"
        if mode != "delete":
            raise StorageFailedError(f"the key of {path} cannot change while others have it open; it was left as it is")
        yield connection


@contextmanager
def _opened(path: Path, secret: Secret | None) -> Iterator[apsw.Connection]:
    with translated(str(path), secret), closing(connect(str(path), _PATIENCE, secret)) as connection:
        yield connection


def _overwrite(file: "apsw.VFSFile") -> None:
    """Leave zeros to whoever has opened the old file and waits: an error there, where its writes would be lost."""
    size = file.xFileSize()
    for start in range(0, size, raw.CHUNK):
        file.xWrite(bytes(min(raw.CHUNK, size - start)), start)
    file.xSync(apsw.SQLITE_SYNC_FULL)
