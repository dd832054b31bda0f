"""SQLite's errors in vectormem's words, translated at one place."""

import apsw

from vectormem.errors import StorageFailedError
from vectormem.stores.sqlite.encryption import Secret, why_unreadable

_REASONS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "is locked: another connection kept its write lock for too long; try again"),
    (apsw.LockedError, "is locked by another use of this connection; try again"),
    (apsw.FullError, "could not grow: the disk or a set limit is full; what was stored before is still there"),
    (apsw.CorruptError, "is damaged; it was left as it is, `vectormem doctor` tells more"),
    (apsw.ReadOnlyError, "cannot be written: the file or its folder is read-only"),
    (apsw.CantOpenError, "cannot be opened: check that its folder exists and may be used"),
)


class translated:  # noqa: N801  # reads as `with translated(path):`
    """Raise StorageFailedError, naming the file and what to do, in place of SQLite's errors."""

    def __init__(self, path: str, secret: Secret | None = None) -> None:
        self._path = path
        self._secret = secret

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, UnicodeDecodeError):
            raise StorageFailedError(
                f"the database {self._path} is damaged: it holds bytes that are no text"
            ) from error
        if isinstance(error, apsw.Error):
            reason = self._reason(error)
            raise StorageFailedError(f"the database {self._path} {reason} ({error})") from error

    def _reason(self, error: apsw.Error) -> str:
        if isinstance(error, apsw.NotADBError):
            return why_unreadable(self._path, self._secret)
        return next((text for kind, text in _REASONS if isinstance(error, kind)), "failed")
