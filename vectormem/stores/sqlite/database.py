"""What the verbs that take care of a whole database file need of a store."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import apsw

from vectormem.stores.cache import IndexCache
from vectormem.stores.sqlite.encryption import Secret

T = TypeVar("T")


class Database(Protocol):
    """An open database; `secret` is the key of an encrypted one."""

    path: str
    cache: IndexCache
    secret: Secret | None

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` on one consistent state of the database."""
        ...

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return `work(connection)` in one write transaction."""
        ...

    def in_use(self) -> AbstractContextManager[None]:
        """Keep the process from forking while further connections to the file are open."""
        ...

    def wipe_now(self, wait_seconds: float) -> bool:
        """Overwrite what deleted rows left behind; False where another connection holds it up."""
        ...
