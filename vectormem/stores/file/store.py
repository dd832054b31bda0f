"""Rows in one JSON file a key."""

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from embedders.folders import make_private_folder
from vectormem.concurrency import ForkAware, run_in_thread
from vectormem.errors import MemoryInvalidError, StorageFailedError
from vectormem.stores.document import read_document, read_key, write_document
from vectormem.stores.erasure import Erased
from vectormem.stores.file.erase import erase
from vectormem.stores.file.lock import FileLocks
from vectormem.stores.file.names import SUFFIX, file_name, key_of, legacy_file_name
from vectormem.stores.file.transient import retried
from vectormem.stores.rows import ItemStore, Rows, T


class FileStore(ForkAware, ItemStore):
    """One file a key in one folder, which the first write creates.

    A change holds the key's lock file, writes a temporary file and puts it in place at once, so that a
    reader sees the old state or the new one, also after a crash.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, str | os.PathLike) or not os.fspath(folder):
            raise MemoryInvalidError(f"dir must be the path of a folder, not {folder!r}")
        self._folder = Path(folder).absolute()
        self._locks = FileLocks()
        super().__init__()

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        return await run_in_thread(self._read, scope_key, work)

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        return await run_in_thread(self._change, scope_key, work)

    async def scope_keys(self) -> Sequence[str]:
        return await run_in_thread(self._scope_keys)

    async def aclose(self) -> None:
        pass

    async def erase(self, scope_key: str) -> Erased:
        """Remove the files of a scope key, and look for what they held in the other files of the folder."""
        return await run_in_thread(self._erase, scope_key)

    def _erase(self, scope_key: str) -> Erased:
        with _translated(self._folder):
            erased = erase(self._folder, self._locks, scope_key)
            if erased.keys:
                _sync_folder(self._folder)
            return erased

    def _read(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        with _translated(self._folder):
            path = self._existing(scope_key)
            return work(read_document(_load(path), scope_key, str(path)))

    def _change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        with _translated(self._folder):
            make_private_folder(self._folder)
            path = self._folder / file_name(scope_key)
            with self._locks.hold(path.with_name(path.name + ".lock")):
                old_path = self._existing(scope_key)
                old = _load(old_path)
                table = read_document(old, scope_key, str(old_path))
                result = work(table)
                new = None if table.is_blank else write_document(scope_key, table).encode()
                if new != old:
                    _store(path, new)
                    if old_path != path:
                        old_path.unlink(missing_ok=True)
                return result

    def _existing(self, scope_key: str) -> Path:
        """Return the key's file, or where it will be; an older name counts where the folder lists just it."""
        path, legacy = self._folder / file_name(scope_key), legacy_file_name(scope_key)
        if not path.exists() and len(legacy) < 255 and legacy in self._names():
            return self._folder / legacy
        return path

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self._folder.iterdir() if path.name.endswith(SUFFIX))
        except FileNotFoundError:
            return []

    def _scope_keys(self) -> list[str]:
        with _translated(self._folder):
            keys = (self._key_in(self._folder / name) for name in self._names())
            return sorted({key for key in keys if key is not None})

    def _key_in(self, path: Path) -> str | None:
        content = _load(path)
        if content is None:
            return None
        key = key_of(path.name) or read_key(content, str(path))
        return key if read_document(content, key, str(path)).count() else None

    def _after_fork_in_child(self) -> None:
        self._locks.let_go()
        self._locks = FileLocks()


def _load(path: Path) -> bytes | None:
    try:
        return retried(path.read_bytes)
    except FileNotFoundError:
        return None


def _store(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        _replace(path, content)
    _sync_folder(path.parent)


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{uuid.uuid4()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        retried(os.replace, temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = error.filename or folder
        raise StorageFailedError(f"could not use {place}: {error.strerror or error}") from error
