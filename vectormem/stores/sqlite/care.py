"""The verbs of a store that take care of the file as a whole."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from vectormem.checks import check_limit, check_positive, check_scope_key
from vectormem.concurrency import run_in_thread
from vectormem.errors import MemoryInvalidError
from vectormem.stores.erasure import Erased
from vectormem.stores.sqlite import backup, erase, history, restore, undo
from vectormem.stores.sqlite.backup import Progress, Snapshot
from vectormem.stores.sqlite.connection import MEMORY
from vectormem.stores.sqlite.database import Database
from vectormem.stores.sqlite.history import History, HistoryEntry
from vectormem.stores.sqlite.undo import Undone

FilePath = str | os.PathLike[str]


class Care(Database, Protocol):
    """Erasure, backup and history of a database."""

    recorded: History | None

    async def erase(self, scope_key: str, *, wait_seconds: float = 5.0) -> Erased:
        """Remove everything of a scope key for good, and look for it in the bytes of the files.

        That is each memory whose key is `scope_key` or `<slot>#<scope_key>` with its history, the chats, sessions
        and conversations of `scope_key`, the documents in namespaces that have it as a label, and the checkpoints
        of the thread that it names. Raises StorageFailedError where an open reader holds old bytes back for
        `wait_seconds`.
        """
        return await run_in_thread(erase.erase, self, check_scope_key(scope_key), wait_seconds)

    async def wipe(self, *, wait_seconds: float = 5.0) -> bool:
        """Overwrite in the file what items removed so far left behind, and empty the log; closing does so too.

        Returns False where a reader or writer holds it up for `wait_seconds`.
        """
        return await run_in_thread(self.wipe_now, wait_seconds)

    async def backup(self, path: FilePath, *, overwrite: bool = False, on_progress: Progress | None = None) -> Snapshot:
        """Copy the database to a file of its own, mode 0600 and checked, while others write; return what it holds.

        It is encrypted with the key of the store. `on_progress` counts pages. Raises StorageFailedError where the
        file exists, unless it may be overwritten.
        """
        target = _absolute(path)
        return await run_in_thread(backup.backup, self, target, overwrite=overwrite, on_progress=on_progress)

    async def restore(self, path: FilePath, *, on_progress: Progress | None = None) -> Snapshot:
        """Put a backup in place of all that the database holds, in one transaction; return what it holds then.

        Other processes may have the database open: they see the change. A backup of an encrypted database has
        the key that the store had then.
        """
        if self.path == MEMORY:
            raise MemoryInvalidError("a database in memory cannot be restored; open the backup itself")
        done = await run_in_thread(self._restore, _absolute(path), on_progress)
        self.recorded = await run_in_thread(self.write, lambda connection: history.set_up(connection, self.recorded))
        await run_in_thread(self.wipe_now, 0)
        return done

    def _restore(self, source: Path, on_progress: Progress | None) -> Snapshot:
        with self.in_use():
            return restore.restore(source, Path(self.path), self.secret, overwrite=True, on_progress=on_progress)

    async def history(self, scope_key: str, *, limit: int | None = None) -> Sequence[HistoryEntry]:
        """Return what happened to the items of a key, newest first; nothing where no history is kept."""
        key, most = check_scope_key(scope_key), check_limit(limit)
        return await run_in_thread(self.read, lambda connection: history.entries(connection, key, self.recorded, most))

    async def undo(self, scope_key: str, change: int | None = None) -> Undone:
        """Put back what a change took away, with ids, times, order and vectors.

        By default, that is the last change of the key that removed, cleared or replaced items and was not undone
        yet. Raises MemoryInvalidError where the history holds nothing to put back.
        """
        key, number = check_scope_key(scope_key), None if change is None else check_positive(change, "change")
        return await run_in_thread(self.write, lambda connection: undo.undo(connection, key, self.recorded, number))


def _absolute(path: FilePath) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise MemoryInvalidError(f"a backup is named by the path of a file, not {path!r}")
    return Path(path).absolute()
