"""Encryption of a whole database, by a build of SQLite that can (the package apsw-sqlite3mc)."""

from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import apsw

from vectormem.errors import MemoryInvalidError, MissingExtraError, StorageFailedError
from vectormem.stores.sqlite.raw import opened

Key: TypeAlias = str | bytes

ENVIRONMENT = "VECTORMEM_DB_KEY"

_RAW_BYTES = 32
_PLAIN = b"SQLite format 3\0"
_MISSING = (
    "encryption needs SQLite3 Multiple Ciphers in place of SQLite; install it with: "
    "pip uninstall -y apsw && pip install apsw-sqlite3mc"
)


class Secret:
    """The key of a database. It shows in no repr, error or log."""

    __slots__ = ("_statement",)

    def __init__(self, statement: str) -> None:
        self._statement = statement

    def unlock(self, connection: apsw.Connection) -> None:
        """Let a new connection read and write with this key. The first read tells whether it is the right one."""
        self._execute(connection, self._statement)

    def replace(self, connection: apsw.Connection) -> None:
        """Encrypt the database of a connection with this key in place of its own."""
        self._execute(connection, self._statement.replace("key", "rekey", 1))

    def _execute(self, connection: apsw.Connection, statement: str) -> None:
        reason = ""
        try:
            connection.execute(f"PRAGMA {statement}")
        except apsw.Error as error:
            reason = str(error) or type(error).__name__
        if reason:  # not raised from that error: it refers to the statement
            raise StorageFailedError(f"SQLite refused the key of {connection.filename}: {reason}")

    def __repr__(self) -> str:
        return "Secret(...)"

    def __reduce__(self) -> str:
        raise TypeError("a key cannot be pickled")


def checked_key(key: object) -> Secret | None:
    """Return the secret of a passphrase, or of a key of 32 bytes; None for none.

    Raises MissingExtraError where this SQLite cannot encrypt: it would store everything in plain.
    """
    if key is None:
        return None
    if isinstance(key, str) and key and not key.startswith("raw:"):
        statement = f"hexkey='{key.encode(errors='surrogatepass').hex()}'"
    elif isinstance(key, bytes) and len(key) == _RAW_BYTES:
        statement = f"key='raw:{key.hex()}'"
    else:
        raise MemoryInvalidError(
            f"the key of a database must be a passphrase (a string that is not empty and does not begin with 'raw:') "
            f"or {_RAW_BYTES} random bytes, not {type(key).__name__} of another kind"
        )
    if not can_encrypt():
        raise MissingExtraError(_MISSING)
    return Secret(statement)


def can_encrypt() -> bool:
    """Whether the SQLite of this process is one that encrypts."""
    return hasattr(apsw, "mc_version")


def why_unreadable(path: str, secret: Secret | None) -> str:
    """Return why SQLite takes a file for no database."""
    if secret is None:
        return f"is not a SQLite database, or it is encrypted and needs its key ({_how()}); it was left as it is"
    if _begins_plain(path):
        return "is not encrypted: open it without a key, and `rekey` encrypts it; it was left as it is"
    return "cannot be read with this key: it has another one, or is no database; it was left as it is"


def _how() -> str:
    return f"SqliteStore(path, key=...), {ENVIRONMENT} on the command line" if can_encrypt() else _MISSING


def _begins_plain(path: str) -> bool:
    with suppress(apsw.Error):
        if Path(path).is_file():
            with opened(path) as file:
                return file.xRead(len(_PLAIN), 0) == _PLAIN
    return False
