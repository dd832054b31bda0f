"""Models, each loaded once in a process however many embedders use it, and used under one lock."""

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_guard = threading.Lock()
_loaded: dict[Hashable, "_Once"] = {}
_wrapped: "weakref.WeakValueDictionary[tuple[object, int], Any]" = weakref.WeakValueDictionary()


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


def wrap_once(model: object, wrap: Callable[[Any], T]) -> T:
    """Return what `wrap` made of this object before, while that is in use, else call it.

    What it makes has to hold the model, so that no other object gets the number by which it is known.
    """
    with _guard:
        wrapped: T = _wrapped.get((wrap, id(model))) or wrap(model)
        _wrapped[wrap, id(model)] = wrapped
    return wrapped


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
