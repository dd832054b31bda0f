"""Models, each loaded once in a process however many embedders use it."""

import os
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_guard = threading.Lock()
_loaded: dict[Hashable, "_Once"] = {}


class _Once:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: Any = None


def load_once(key: Hashable, load: Callable[[], T]) -> T:
    """Return what `load` returned for this key before, else call it; other threads wait. Failures are not kept."""
    with _guard:
        once = _loaded.setdefault(key, _Once())
    with once.lock:
        if once.value is None:
            once.value = load()
        value: T = once.value
    return value


def place(name: str) -> Hashable:
    """Return a key for a model's name, or for a folder or file as it is now: a changed one gets another key."""
    path = Path(name)
    if not path.exists():
        return name
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return (os.path.realpath(path), *((str(file), *_stamp(file)) for file in files))


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns
