"""Locks of processes that are gone: taken over at once where that is certain, and never from a living owner."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.stores.test_file_lock import leave_behind
from vectormem import StorageFailedError
from vectormem.stores.file import lock
from vectormem.stores.file.lock import FileLocks


@pytest.fixture
def path(tmp_path):
    return tmp_path / "global.json.lock"


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(lock, "TIMEOUT_SECONDS", 0.05)


def dead_process():
    """Return the number of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_the_lock_of_a_process_of_this_machine_that_is_gone_is_taken_over_at_once(path, impatient):
    """tox-dev/filelock#476"""
    if lock.fcntl is None:
        pytest.skip("this system cannot tell")
    leave_behind(path, f"{dead_process()} {socket.gethostname()} token\n".encode(), age=0)
    with FileLocks().hold(path):
        assert path.read_text().startswith(f"{os.getpid()} ")
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        "{dead} another-host token\n",
        "{dead}\n",
        "-1 {host} token\n",
        "{dead}x {host} token\n",
        "9999999999999999999 {host} t",
    ],
)
def test_a_young_lock_that_may_have_a_living_owner_elsewhere_is_waited_for(path, impatient, content):
    """tox-dev/filelock#660, littlebearapps/untether#459"""
    leave_behind(path, content.format(dead=dead_process(), host=socket.gethostname()).encode(), age=0)
    with pytest.raises(StorageFailedError), FileLocks().hold(path):
        pytest.fail("the lock was taken")


def test_a_number_of_a_dead_process_robs_no_owner_that_holds_the_file(path, impatient):
    """Containers on one machine have numbers of their own for the same processes."""
    if lock.fcntl is None:
        pytest.skip("this system has no flock")
    with FileLocks().hold(path):
        path.write_text(f"{dead_process()} {socket.gethostname()} token\n")
        with pytest.raises(StorageFailedError), FileLocks().hold(path):
            pytest.fail("the lock was taken")


def test_a_taken_over_lock_spares_the_temporary_files_of_keys_with_longer_names(path, impatient):
    leave_behind(path, b"1 host token\n", age=31)
    others = [
        path.with_name("global.json.x.json.00000000-0000-0000-0000-000000000000.tmp"),
        path.with_name("global.json.b.json.0a1b.tmp"),
        path.with_name("xglobal.json.0a1b.tmp"),
    ]
    for other in others:
        other.write_text("of another key, which is being written")
    with FileLocks().hold(path):
        assert all(other.exists() for other in others)


def test_queues_are_kept_for_no_longer_than_they_are_used(tmp_path):
    locks = FileLocks()
    for number in range(100):
        with locks.hold(tmp_path / f"{number}.json.lock"):
            pass
    assert len(locks._queues) == 0


def test_a_forked_child_keeps_no_lock_of_a_parent_that_dies(tmp_path, impatient):
    """tox-dev/filelock#635"""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    done = subprocess.run([sys.executable, "-c", DYING_PARENT, str(tmp_path)], capture_output=True, timeout=60)
    child = int(done.stdout)
    try:
        with FileLocks().hold(tmp_path / "k.json.lock"):
            pass
    finally:
        os.kill(child, signal.SIGKILL)


DYING_PARENT = """
import os, signal, sys, threading, time
from pathlib import Path
from vectormem import FileMemory

folder = Path(sys.argv[1])
store = FileMemory(folder)._items
inside, forked = threading.Event(), threading.Event()

def hold():
    with store._locks.hold(folder / "k.json.lock"):
        inside.set()
        forked.wait()

threading.Thread(target=hold, daemon=True).start()
inside.wait()
child = os.fork()
if child == 0:
    os.close(1)
    os.close(2)
    signal.alarm(60)
    signal.pause()
os.write(1, str(child).encode())
os.kill(os.getpid(), signal.SIGKILL)
"""
