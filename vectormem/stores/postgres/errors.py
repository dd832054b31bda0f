"""Postgres' errors in vectormem's words, translated at one place."""

import psycopg
from psycopg import errors

from vectormem.errors import StorageFailedError

_REASONS: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.QueryCanceled, "did not answer in time: it is overloaded, or another change holds the key; try again"),
    (errors.InsufficientPrivilege, "does not allow this role to do that; docs/postgres.md lists what it needs"),
    (errors.ReadOnlySqlTransaction, "is read-only: name the primary, or add target_session_attrs=read-write"),
    (errors.DiskFull, "is full; what was stored before is still there"),
    (errors.TooManyConnections, "has no connection left; lower pool_size, or put a pooler before it"),
    (errors.UndefinedTable, "has lost tables of vectormem while it was in use; open the store again"),
    (errors.UndefinedObject, "lacks something that vectormem has created, such as the extension `vector`"),
    (errors.ProgramLimitExceeded, "cannot hold so large a value"),
    (errors.DataException, "refused a value"),
    (errors.DeadlockDetected, "was busy with other changes of the same rows; try again"),
)
_LOST = "cannot be reached, or the connection was lost; nothing of this change was stored"
_LOST_CLASSES = ("08", "57P")


class LostBeforeCommitError(Exception):
    """The connection was lost before a change was complete: it can be done again as a whole."""


class UnknownOutcomeError(Exception):
    """The connection was lost while a change was being committed."""


class UnconfirmedError(Exception):
    """A change is stored here, and somebody ended the wait for the synchronous standby."""


class translated:  # noqa: N801  # reads as `with translated(shown):`
    """Raise StorageFailedError, naming the database and what to do, in place of Postgres' errors."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, UnknownOutcomeError):
            raise StorageFailedError(
                f"the database {self._shown} was lost while it stored a change, which is there whole or not at all; "
                f"look, or do it again: a text is kept once ({error})"
            ) from error.__cause__
        if isinstance(error, UnconfirmedError):
            raise StorageFailedError(
                f"the database {self._shown} has stored a change that no standby has confirmed, since the wait for it "
                "was cancelled: it is lost if that server is"
            )
        if isinstance(error, LostBeforeCommitError):
            error = error.__cause__
        if isinstance(error, psycopg.Error):
            raise StorageFailedError(f"the database {self._shown} {_reason(error)} ({told(error)})") from error


def told(error: psycopg.Error) -> str:
    """Return what the server said, in one line and without details, which may quote what is stored."""
    return error.diag.message_primary or " ".join(str(error).split())


def _reason(error: psycopg.Error) -> str:
    state = error.sqlstate
    if isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(_LOST_CLASSES)):
        return _LOST
    return next((text for kind, text in _REASONS if isinstance(error, kind)), "failed")
