"""Patience with a file that another program has open for a moment."""

import errno
import os
from pathlib import Path

import pytest

from tests.conftest import texts_of
from vectormem import FileMemory, StorageFailedError, blocking
from vectormem.stores.file import transient
from vectormem.stores.file.transient import retried

ALL_WAITS = [0.005, 0.010, 0.020, 0.040, 0.080, 0.120, 0.200, 0.300, 0.500]
TRANSIENT = [errno.EPERM, errno.EACCES, errno.EBUSY]


@pytest.fixture
def waits(monkeypatch):
    waits = []
    monkeypatch.setattr(transient.time, "sleep", waits.append)
    return waits


def failing(times, number, result="done"):
    """Return a function that fails so many times with this error."""
    left = [times]

    def operation(*args, **kwargs):
        if left[0]:
            left[0] -= 1
            raise OSError(number, os.strerror(number))
        return result(*args, **kwargs) if callable(result) else result

    return operation


@pytest.mark.parametrize("number", TRANSIENT)
@pytest.mark.parametrize("times", range(10))
def test_a_transient_error_is_waited_out_with_growing_waits(waits, number, times):
    assert retried(failing(times, number)) == "done"
    assert waits == ALL_WAITS[:times]


@pytest.mark.parametrize("number", TRANSIENT)
def test_the_tenth_failure_is_the_last(waits, number):
    with pytest.raises(OSError) as caught:
        retried(failing(10, number))
    assert caught.value.errno == number
    assert waits == ALL_WAITS


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOENT, errno.EIO, errno.EROFS])
def test_another_error_is_not_waited_for(waits, number):
    with pytest.raises(OSError):
        retried(failing(1, number))
    assert waits == []


@pytest.mark.parametrize("number", TRANSIENT)
def test_a_read_survives_transient_errors(tmp_path, waits, monkeypatch, number):
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "Tea.")
    monkeypatch.setattr(Path, "read_bytes", failing(3, number, Path.read_bytes))
    assert texts_of(memory.list("k")) == ["Tea."]
    assert waits == ALL_WAITS[:3]


@pytest.mark.parametrize("number", TRANSIENT)
def test_a_replace_survives_transient_errors(tmp_path, waits, monkeypatch, number):
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "Tea.")
    monkeypatch.setattr(os, "replace", failing(3, number, os.replace))
    memory.add("k", "Milk.")
    assert waits == ALL_WAITS[:3]
    assert texts_of(memory.list("k")) == ["Milk.", "Tea."]


def test_a_replace_that_keeps_failing_is_a_storage_error_and_leaves_the_old_file_alone(tmp_path, waits, monkeypatch):
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "Tea.")
    before = (tmp_path / "k.json").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", failing(10, errno.EACCES))
        with pytest.raises(StorageFailedError, match="Permission denied"):
            memory.add("k", "Milk.")
    assert [path.name for path in tmp_path.iterdir()] == ["k.json"]
    assert (tmp_path / "k.json").read_bytes() == before
    memory.add("k", "Bread.")
    assert texts_of(memory.list("k")) == ["Bread.", "Tea."]


def test_a_lock_file_that_cannot_be_created_for_a_moment_is_waited_for(tmp_path, waits, monkeypatch):
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "Tea.")
    real, left = os.open, [2]

    def create(path, flags, *args, **kwargs):
        if str(path).endswith(".lock") and flags & os.O_EXCL and left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, "another program deletes it just now")
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", create)
    memory.add("k", "Milk.")
    assert waits == ALL_WAITS[:2]
    assert texts_of(memory.list("k")) == ["Milk.", "Tea."]
