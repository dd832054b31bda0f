"""A lock file that several processes respect and that outlives none of them for long."""

import os
import random
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vectormem.errors import StorageFailedError
from vectormem.stores.file.transient import retried

try:
    import fcntl
except ImportError:  # Windows: a file that is open cannot be deleted there, which protects a living owner
    fcntl = None  # type: ignore[assignment]

STALE_SECONDS = 30.0
TIMEOUT_SECONDS = 10.0

_REFRESH_SECONDS = 5.0
_FIRST_WAIT = 0.002
_LONGEST_WAIT = 0.05
_FAIRNESS_SECONDS = 1.0
_MOST_READ = 1024


class _Queue:
    """Where the threads of this process wait for one lock file."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.contended_until = 0.0


class FileLocks:
    """The lock files of one folder, with a queue in this process before each."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._queues: dict[Path, _Queue] = {}
        self._held: set[_HeldLock] = set()

    @contextmanager
    def hold(self, path: Path) -> Iterator[None]:
        """Hold the lock file `path`. Raises StorageFailedError where others hold it for 10 seconds."""
        with self._queued(path) as queue:
            if queue.contended_until > time.monotonic():
                time.sleep(random.uniform(_FIRST_WAIT, _LONGEST_WAIT / 2))  # let the other processes have their turn
            lock, waited = _acquire(path)
            if waited:
                queue.contended_until = time.monotonic() + _FAIRNESS_SECONDS
            with lock:
                self._held.add(lock)
                try:
                    yield
                finally:
                    self._held.discard(lock)  # before it closes: its number may mean another file then

    def let_go(self) -> None:
        """Close the lock files in a forked child, which would else keep the locks of its parent after its end."""
        while self._held:
            self._held.pop().let_go()

    @contextmanager
    def _queued(self, path: Path) -> Iterator[_Queue]:
        """Wait in the queue of a lock file; one that nobody needs any more is dropped."""
        with self._mutex:
            queue = self._queues.setdefault(path, _Queue())
            queue.users += 1
        try:
            with queue.lock:
                yield queue
        finally:
            with self._mutex:
                queue.users -= 1
                if not queue.users and queue.contended_until <= time.monotonic():
                    del self._queues[path]


class _HeldLock:
    """An open lock file, kept young while it is held and removed by its owner alone."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._done = threading.Event()

    def __enter__(self) -> None:
        self._timer = threading.Timer(_REFRESH_SECONDS, self._refresh)
        self._timer.daemon = True
        with suppress(RuntimeError):  # an interpreter that is ending starts no threads; the lock is short then
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._timer.cancel()
        try:
            if _is_open_file(self._path, self._descriptor):
                self._path.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)

    def let_go(self) -> None:
        """Close the file and nothing else."""
        os.close(self._descriptor)

    def _refresh(self) -> None:
        while not self._done.wait(_REFRESH_SECONDS):
            with suppress(OSError):
                os.utime(self._path)


def _acquire(path: Path) -> tuple[_HeldLock, bool]:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    wait, waited = _FIRST_WAIT, False
    while True:
        descriptor = retried(_create, path)
        if descriptor is not None:
            return _HeldLock(path, descriptor), waited
        if _remove_stale(path):
            continue
        if time.monotonic() >= deadline:
            raise StorageFailedError(
                f"the lock file {path} was held for {TIMEOUT_SECONDS:.0f} seconds by {_owner(path)}; if that process "
                f"is gone, the lock is taken over {STALE_SECONDS:.0f} seconds after its last sign of life"
            )
        time.sleep(random.uniform(wait / 2, wait))
        wait, waited = min(wait * 2, _LONGEST_WAIT), True


def _create(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return None
    try:
        _try_claim(descriptor)
        os.write(descriptor, f"{os.getpid()} {socket.gethostname()} {uuid.uuid4()}\n".encode())
    except BaseException:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        raise
    return descriptor


def _remove_stale(path: Path) -> bool:
    """Remove a lock that its owner left behind.

    Whoever removes a lock file holds the system's own lock on it, and checks that the path still leads to
    it: so two that find it stale cannot remove each other's new lock, nor that of a living owner.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        is_abandoned = _is_stale(descriptor) or _is_of_the_dead(descriptor)
        if not is_abandoned or not _try_claim(descriptor) or not _is_open_file(path, descriptor):
            return False
        if fcntl is not None:  # else it may be a living owner that writes it
            _remove_leftovers(path)
        path.unlink(missing_ok=True)
        return True
    except PermissionError:
        return False
    finally:
        os.close(descriptor)


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files that an owner died over: they hold items that may be forgotten later."""
    for leftover in leftovers(path.with_name(path.name.removesuffix(".lock"))):
        leftover.unlink(missing_ok=True)


def leftovers(document: Path) -> list[Path]:
    """Return the temporary files of a document; whoever holds its lock may remove them."""
    own = re.compile(re.escape(document.name) + r"\.[0-9a-f-]+\.tmp")
    return [path for path in document.parent.iterdir() if own.fullmatch(path.name)]


def _is_stale(descriptor: int) -> bool:
    return abs(time.time() - os.fstat(descriptor).st_mtime) > STALE_SECONDS


def _is_of_the_dead(descriptor: int) -> bool:
    """Whether the owner was a process of this machine that is gone, so that nobody has to wait for its age."""
    if fcntl is None:  # what follows would end a process there
        return False
    process, _, rest = os.pread(descriptor, _MOST_READ, 0).decode(errors="replace").partition(" ")
    if not process.isdecimal() or rest.split(" ")[0] != socket.gethostname():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass  # it is another user's, or no number of a process
    return False


def _try_claim(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_open_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _owner(path: Path) -> str:
    try:
        content = path.read_text(errors="replace").split()
    except OSError:
        content = []
    return f"process {content[0]} on {content[1]}" if len(content) > 1 else "an unknown process"
