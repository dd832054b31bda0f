"""One transaction, in as few round trips as its queries need."""

import hashlib
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from vectormem.stores.postgres.connection import Connection, SilentServerError
from vectormem.stores.postgres.errors import LostBeforeCommitError, UnconfirmedError, UnknownOutcomeError

T = TypeVar("T")

Mode: TypeAlias = Literal["read", "write"]

_BEGIN: dict[Mode, str] = {
    "read": "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "write": "BEGIN ISOLATION LEVEL READ COMMITTED",
}
_SETTINGS = (
    "SELECT set_config('search_path', %s, true), set_config('statement_timeout', %s, true),"
    " set_config('idle_in_transaction_session_timeout', %s, true), set_config('jit', 'off', true)"
)


def transact(connection: Connection, mode: Mode, search_path: str, work: Callable[[Connection], T]) -> T:
    """Return `work(connection)`; all of it is stored, or nothing. Settings last as long as the transaction.

    Statements are sent as they come and answers waited for where they are read, so that a change costs
    one round trip for each query, and one for all that it writes.
    """
    is_committing = False
    milliseconds = str(max(1, round(connection.wait_seconds * 1000)))
    try:
        with connection.sending_ahead():
            connection.execute(_BEGIN[mode])
            connection.execute(_SETTINGS, (search_path, milliseconds, milliseconds))
            result = work(connection)
            is_committing = mode == "write"
            connection.execute("COMMIT")
    except psycopg.OperationalError as error:
        _roll_back(connection)
        if not connection.closed or (isinstance(error, SilentServerError) and not is_committing):
            raise
        raise (UnknownOutcomeError(str(error)) if is_committing else LostBeforeCommitError()) from error
    except BaseException:
        _roll_back(connection)
        raise
    if connection.is_unconfirmed:
        connection.close()
        raise UnconfirmedError
    return result


def lock(connection: Connection, table: str, key: str) -> None:
    """Keep every other change of the key waiting until this transaction has ended, also where the key is new."""
    number = hashlib.blake2b(f"{table}/{key}".encode(), digest_size=8).digest()
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (int.from_bytes(number, "big", signed=True),))


def _roll_back(connection: Connection) -> None:
    if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
        connection.execute("ROLLBACK")
