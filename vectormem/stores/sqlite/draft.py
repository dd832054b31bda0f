"""A database file that is written beside its place, private to its owner, and put there when it is complete."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vectormem.errors import StorageFailedError

_SIDE_FILES = ("", "-journal", "-wal", "-shm")


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """Give the path of a new, empty file in the folder of `target`; what is left of it in the end is deleted."""
    draft = target.with_name(f".{target.name}.{uuid.uuid4()}.tmp")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield draft
    except OSError as error:
        raise StorageFailedError(f"could not write {target}: {error.strerror or error}") from error
    finally:
        for suffix in _SIDE_FILES:
            Path(f"{draft}{suffix}").unlink(missing_ok=True)


def put_in_place(draft: Path, target: Path, *, overwrite: bool) -> None:
    """Let a complete draft become the target at once. Raises StorageFailedError where that exists and may not go."""
    _sync(draft)
    if overwrite:
        draft.replace(target)
    else:
        _rename_to_new(draft, target)
    _sync(target.parent)


def refuse_existing(target: Path, *, overwrite: bool) -> None:
    """Raise StorageFailedError where a file may not be replaced."""
    if target.is_dir():
        raise StorageFailedError(f"{target} is a folder; name a file")
    if target.exists() and not overwrite:
        raise StorageFailedError(
            f"{target} exists already and was left as it is; overwrite=True, or --overwrite, replaces it"
        )


def _rename_to_new(draft: Path, target: Path) -> None:
    try:
        if os.name == "nt":
            draft.rename(target)  # refuses an existing file there
        else:
            os.link(draft, target)  # as a rename never does here
    except FileExistsError:
        refuse_existing(target, overwrite=False)
        raise
    except OSError:  # a file system without hard links
        refuse_existing(target, overwrite=False)
        draft.replace(target)


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # a folder cannot be opened there
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
