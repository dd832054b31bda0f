"""The lock file of a key: never two owners, never a living owner robbed, nothing left behind."""

import errno
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from vectormem import StorageFailedError
from vectormem.stores.file import lock
from vectormem.stores.file.lock import FileLocks

AN_HOUR = 3600


@pytest.fixture
def path(tmp_path):
    return tmp_path / "global.json.lock"


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(lock, "TIMEOUT_SECONDS", 0.05)


def leave_behind(path, content, *, age):
    path.write_bytes(content)
    then = time.time() - age
    os.utime(path, (then, then))


def test_the_documented_times_are_ten_and_thirty_seconds():
    assert (lock.TIMEOUT_SECONDS, lock.STALE_SECONDS) == (10.0, 30.0)


def test_a_held_lock_names_its_process_and_host_and_a_token_of_its_own(path):
    tokens = set()
    for _ in range(2):
        with FileLocks().hold(path):
            process, host, token = path.read_text().split()
            tokens.add(token)
            assert (int(process), host) == (os.getpid(), socket.gethostname())
            assert path.stat().st_mode & 0o777 == 0o600
        assert not path.exists()
    assert len(tokens) == 2


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_lock_is_released_when_the_work_under_it_fails(path, failure):
    locks = FileLocks()
    with pytest.raises(failure), locks.hold(path):
        raise failure
    assert not path.exists()
    with locks.hold(path):
        pass


LEFT_BEHIND = [
    b"",
    b"abc",
    b"\xff\x00\xfe",
    b"{" * 10_000,
    b"999999999 gone-host 00000000-0000-0000-0000-000000000000\n",
    f"{os.getpid()} {socket.gethostname()} 00000000-0000-0000-0000-000000000000\n".encode(),
    b"1 another-host 00000000-0000-0000-0000-000000000000\n",
]


@pytest.mark.parametrize("content", LEFT_BEHIND)
def test_a_lock_without_a_sign_of_life_for_thirty_seconds_is_taken_over_whatever_it_holds(path, content, impatient):
    """tox-dev/filelock#476, #551, #660"""
    leave_behind(path, content, age=31)
    with FileLocks().hold(path):
        assert path.read_text().startswith(f"{os.getpid()} ")
    assert not path.exists()


@pytest.mark.parametrize("content", LEFT_BEHIND)
def test_a_younger_lock_of_others_is_waited_for_and_then_named_in_the_error(path, content, impatient):
    """littlebearapps/untether#459"""
    leave_behind(path, content, age=20)
    with pytest.raises(StorageFailedError, match=r"global\.json\.lock was held"), FileLocks().hold(path):
        pytest.fail("the lock was taken")
    assert path.read_bytes() == content


def test_a_lock_from_the_future_is_taken_over_since_clocks_may_have_been_set_back(path, impatient):
    """patrickmn/go-cache#161"""
    leave_behind(path, b"1 host token\n", age=-AN_HOUR)
    with FileLocks().hold(path):
        pass
    assert not path.exists()


def test_waiting_does_not_depend_on_the_wall_clock(path, impatient, monkeypatch):
    """curie-eng/curie#579"""
    leave_behind(path, b"", age=0)
    moments = iter(range(10**9, 10**9 + 10**8, 3))
    monkeypatch.setattr(lock, "_is_stale", lambda descriptor: False)
    monkeypatch.setattr(lock.time, "time", lambda: float(next(moments)))
    with pytest.raises(StorageFailedError), FileLocks().hold(path):
        pytest.fail("the lock was taken")


def test_a_living_owner_is_never_robbed_however_old_its_lock_looks(path, impatient):
    if lock.fcntl is None:
        pytest.skip("this system has no flock; there, an open file cannot be deleted")
    with FileLocks().hold(path):
        leave_behind(path, path.read_bytes(), age=AN_HOUR)
        with pytest.raises(StorageFailedError), FileLocks().hold(path):
            pytest.fail("the lock was taken")
        assert path.exists()
    with FileLocks().hold(path):
        pass


def test_an_owner_keeps_its_lock_young(path, monkeypatch):
    monkeypatch.setattr(lock, "_REFRESH_SECONDS", 0.001)
    with FileLocks().hold(path):
        os.utime(path, (1, 1))
        waited = threading.Event()
        for _ in range(10_000):
            if path.stat().st_mtime > 1:
                break
            waited.wait(0.001)
        assert path.stat().st_mtime > 1


def test_the_temporary_file_of_a_dead_owner_goes_with_its_lock(path, impatient):
    """openhab/openhab-core#2989"""
    leave_behind(path, b"1 host token\n", age=31)
    left, other = path.with_name("global.json.0a1b.tmp"), path.with_name("other.json.0a1b.tmp")
    left.write_text("half of the item")
    other.write_text("of another key, which is being written")
    with FileLocks().hold(path):
        assert not left.exists()
    assert other.exists()


def test_an_owner_removes_no_lock_but_its_own(path):
    with FileLocks().hold(path):
        path.unlink()
        path.write_text("someone else's")
    assert path.read_text() == "someone else's"


def test_a_lock_that_someone_deleted_is_released_without_an_error(path):
    with FileLocks().hold(path):
        path.unlink()
    assert not path.exists()


def test_two_that_find_a_stale_lock_at_once_never_both_hold_it(path):
    """tox-dev/filelock#476"""
    inside, most, mutex = [], [0], threading.Lock()
    everyone = threading.Barrier(6)

    def enter():
        for _ in range(15):
            if everyone.wait() == 0:
                leave_behind(path, b"left by the dead", age=AN_HOUR)
            everyone.wait()
            with FileLocks().hold(path):  # its own object: no queue in this process comes before it
                with mutex:
                    inside.append(1)
                    most[0] = max(most[0], len(inside))
                os.sched_yield()
                with mutex:
                    inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert not path.exists()


def test_threads_of_one_process_follow_each_other(path):
    locks, order = FileLocks(), []

    def enter(number):
        with locks.hold(path):
            order.append(number)
            os.sched_yield()
            order.append(number)

    threads = [threading.Thread(target=enter, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order[::2] == order[1::2]
    assert sorted(order[::2]) == list(range(8))


def test_a_disk_too_full_for_the_lock_leaves_no_lock(path, monkeypatch):
    def full(descriptor, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lock.os, "write", full)
    with pytest.raises(OSError, match="No space"), FileLocks().hold(path):
        pytest.fail("the lock was taken")
    assert not path.exists()


def test_a_lock_is_held_and_released_where_no_thread_can_be_started(path, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(lock.threading.Timer, "start", refuse)
    with FileLocks().hold(path):
        assert path.exists()
    assert not path.exists()


def test_a_lock_leaves_no_thread_and_no_open_file(path):
    def open_files():
        return len(list(descriptors.iterdir()))

    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("this system does not list open files")
    before = open_files()
    for _ in range(20):
        with FileLocks().hold(path):
            pass
    assert open_files() == before
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(5)
            assert not thread.is_alive()
