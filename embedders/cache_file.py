"""The file of a CachedEmbedder: vectors by key, bounded in size, never trusted and never needed."""

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from embedders.folders import make_private_folder

T = TypeVar("T")

logger = logging.getLogger("embedders")

SMALLEST = 2**18
_APPLICATION = 0x656D6263
_PAGE_BYTES = 16_384
_FIXED_PAGES = 6
_CELL_BYTES = 64  # of a row beside its vector
_INDEX_BYTES = 128  # of a row in the other trees
_BUSY_MILLISECONDS = 5_000
_PASSING = (
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.PermissionsError,
    OSError,
)
_DAMAGE = (apsw.Error, TypeError, ValueError, OverflowError)  # the last three where a value has changed its type
_SCHEMA = (
    "CREATE TABLE cached_vectors(place INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB NOT NULL, checksum BLOB)",
    "CREATE TABLE cached_uses(place INTEGER PRIMARY KEY, used INTEGER NOT NULL)",
    "CREATE INDEX cached_uses_in_order ON cached_uses(used)",
    "CREATE TABLE cached_bytes(total INTEGER NOT NULL)",
    "INSERT INTO cached_bytes VALUES (0)",
    f"PRAGMA application_id={_APPLICATION}",
)
_FORGET = ("DELETE FROM cached_vectors", "DELETE FROM cached_uses", "UPDATE cached_bytes SET total=0")
_OLDEST = "SELECT place FROM cached_uses ORDER BY used, place LIMIT 1"


class CacheFile:
    """Bytes by key in SQLite, shared by threads and processes; it blocks, and never raises SQLite's errors.

    What cannot be read is missing, and what cannot be written is not kept. A damaged file is renamed to
    `<path>.corrupt` and begun anew. The file stays within `max_bytes`: new rows take the places of those that
    were not used for longest. Each call opens the file for itself, so that nothing is held between calls,
    across forks or after the end. Raises ValueError where the path holds another kind of database.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._is_ours = False
        self._told: set[str] = set()
        self._attempt(lambda connection: None, None)

    def get(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return what is stored, and undamaged, for the keys."""
        return self._attempt(lambda connection: _used_rows(connection, keys), {})

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store values, in place of what was not used for longest where there is no more room."""
        room = (self._max_bytes - _FIXED_PAGES * _PAGE_BYTES) * 4 // 5
        self._attempt(lambda connection: _write(connection, values, room), None)

    def delete(self, keys: Collection[bytes]) -> int:
        """Delete the values of keys, leaving none of their bytes; return how many there were."""
        return self._attempt(lambda connection: _delete(connection, keys), 0)

    def _attempt(self, work: Callable[[apsw.Connection], T], otherwise: T) -> T:
        for _ in range(2):
            try:
                with closing(self._open()) as connection:
                    return _worked(connection, work)
            except _ForeignError as error:
                if not self._is_ours:
                    raise
                self._tell("is passed over", error)
                return otherwise
            except _PASSING as error:
                self._tell("is passed over", error)
                return otherwise
            except _DAMAGE as error:
                self._move_aside(error)
        return otherwise

    def _open(self) -> apsw.Connection:
        make_private_folder(self._path.parent)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(self._path.absolute()), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            _prepare(connection, self._max_bytes // _PAGE_BYTES)
        except BaseException:
            connection.close()
            raise
        self._is_ours = True
        return connection

    def _move_aside(self, error: Exception) -> None:
        self._tell(f"is damaged and renamed to {self._path.name}.corrupt", error)
        with contextlib.suppress(OSError):
            Path(f"{self._path}-journal").unlink(missing_ok=True)
            self._path.replace(f"{self._path}.corrupt")

    def _tell(self, what: str, error: Exception) -> None:
        if what not in self._told:
            self._told.add(what)
            logger.warning("embedding cache %s %s: %s", self._path, what, error)


class _ForeignError(ValueError):
    """The file is a database of another kind."""


def _prepare(connection: apsw.Connection, most_pages: int) -> None:
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    is_new = connection.pragma("application_id") != _APPLICATION
    if is_new:
        _check_empty(connection)
        connection.pragma("page_size", _PAGE_BYTES)
    connection.pragma("journal_mode", "TRUNCATE")
    connection.pragma("synchronous", "OFF")  # a file that a power cut damages is begun anew
    connection.pragma("max_page_count", most_pages)
    connection.pragma("secure_delete", "ON")
    if is_new:
        with _transaction(connection):
            _create(connection)


def _create(connection: apsw.Connection) -> None:
    if connection.pragma("application_id") == _APPLICATION:
        return  # another process came first
    for statement in _SCHEMA:
        connection.execute(statement)


def _check_empty(connection: apsw.Connection) -> None:
    """Refuse a database of another kind, before anything is changed in it."""
    with _transaction(connection, "DEFERRED"):
        is_ours = connection.pragma("application_id") == _APPLICATION
        if not is_ours and connection.execute("SELECT count(*) FROM sqlite_schema").get:
            name = connection.filename
            raise _ForeignError(f"{name} is a database of another kind; give the cache a file of its own")


@contextmanager
def _transaction(connection: apsw.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite ends it by itself where the file is full
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _worked(connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    """Return `work(connection)`; where rows of many lengths left gaps but no free page, forget everything first."""
    try:
        with _transaction(connection):
            return work(connection)
    except apsw.FullError:
        with _transaction(connection):
            for statement in _FORGET:
                connection.execute(statement)
            return work(connection)


def _used_rows(connection: apsw.Connection, keys: Collection[bytes]) -> dict[bytes, bytes]:
    """Return the rows whose checksum is right, and mark them as used now."""
    now = _next_use(connection)
    found = {}
    for key in keys:
        row = connection.execute("SELECT place, vector, checksum FROM cached_vectors WHERE key=?", (key,)).get
        if row is not None and row[2] == _checksum(key, row[1]):
            found[key] = row[1]
            connection.execute("UPDATE cached_uses SET used=? WHERE place=?", (now, row[0]))
    return found


def _write(connection: apsw.Connection, values: Mapping[bytes, bytes], most: int) -> None:
    now = _next_use(connection)
    total = connection.execute("SELECT total FROM cached_bytes").get
    for key, vector in values.items():
        free, cost = [], _cost(len(vector))
        old = connection.execute("SELECT place FROM cached_vectors WHERE key=?", (key,)).get
        while old is not None or total + cost > most:
            place = old if old is not None else connection.execute(_OLDEST).get
            if place is None:
                total = 0
                break
            total -= _remove(connection, place)
            free.append(place)
            old = None
        if total + cost <= most:
            _insert(connection, free[0] if free else None, key, vector, now)
            total += cost
    connection.execute("UPDATE cached_bytes SET total=?", (max(total, 0),))


def _delete(connection: apsw.Connection, keys: Collection[bytes]) -> int:
    total = connection.execute("SELECT total FROM cached_bytes").get
    found = [connection.execute("SELECT place FROM cached_vectors WHERE key=?", (key,)).get for key in keys]
    places = [place for place in found if place is not None]
    for place in places:
        total -= _remove(connection, place)
    connection.execute("UPDATE cached_bytes SET total=?", (max(total, 0),))
    return len(places)


def _insert(connection: apsw.Connection, place: int | None, key: bytes, vector: bytes, now: int) -> None:
    row = (place, key, vector, _checksum(key, vector))
    connection.execute("INSERT INTO cached_vectors(place, key, vector, checksum) VALUES (?, ?, ?, ?)", row)
    connection.execute("INSERT INTO cached_uses VALUES (?, ?)", (connection.last_insert_rowid(), now))


def _remove(connection: apsw.Connection, place: int) -> int:
    """Delete a row; return how many bytes it took."""
    connection.execute("DELETE FROM cached_uses WHERE place=?", (place,))
    length = connection.execute("DELETE FROM cached_vectors WHERE place=? RETURNING length(vector)", (place,)).get
    return 0 if length is None else _cost(length)


def _next_use(connection: apsw.Connection) -> int:
    latest: int | None = connection.execute("SELECT max(used) FROM cached_uses").get
    return (latest or 0) + 1


def _cost(length: int) -> int:
    """Return the bytes that a row takes: a share of a page, or several pages."""
    cell = length + _CELL_BYTES
    in_a_page = (_PAGE_BYTES - _CELL_BYTES) // cell
    return _INDEX_BYTES + (_PAGE_BYTES // in_a_page if in_a_page else _PAGE_BYTES * (1 + cell // _PAGE_BYTES))


def _checksum(key: bytes, vector: bytes) -> bytes:
    return hashlib.blake2b(key + vector, digest_size=8).digest()
