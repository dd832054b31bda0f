"""Memories of every kind for the tests, and what the tests share to provoke faults."""

import asyncio
import faulthandler
import os
import pickle
import select
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from embedders import HashEmbedder
from vectormem import (
    FileMemory,
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    SqliteMemory,
    SqliteVectorMemory,
    blocking,
)

settings.register_profile("vectormem", deadline=None)  # a busy machine is no fault
settings.load_profile("vectormem")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job, and the processes of tests inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

NOBODY = 65534

KEYWORD_KINDS = ("memory", "file", "kv", "sqlite")
VECTOR_KINDS = ("memory-vectors", "sqlite-vectors")
LASTING_KINDS = ("file", "kv", "sqlite", "sqlite-vectors")
ALL_KINDS = KEYWORD_KINDS + VECTOR_KINDS


class DictKV:
    """A key-value store that gives other tasks their turn at every call."""

    def __init__(self):
        self.values = {}

    async def get(self, key):
        await asyncio.sleep(0)
        return self.values.get(key)

    async def put(self, key, value):
        await asyncio.sleep(0)
        self.values[key] = value

    async def delete(self, key):
        await asyncio.sleep(0)
        self.values.pop(key, None)

    async def list(self, *, prefix):
        return [key for key in self.values if key.startswith(prefix)]


class FixedEmbedder:
    """Gives each text the vector that the test fixes; other texts get `default`. Records its calls."""

    def __init__(self, vectors, *, id="fixed", default=None):
        self.id = id
        self.vectors = dict(vectors)
        self.default = default
        self.calls = []

    async def embed(self, texts, *, kind="document"):
        self.calls.append((kind, list(texts)))
        return np.array([self.vectors.get(text, self.default) for text in texts], np.float32)


class Returning:
    """An embedder that returns what the test says, or raises it, and records its calls."""

    id = "returning"

    def __init__(self, result, **attributes):
        self._result = result
        self.calls = []
        vars(self).update(attributes)

    async def embed(self, texts, *, kind="document"):
        self.calls.append((list(texts), kind))
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result(texts) if callable(self._result) else self._result


@dataclass
class Place:
    """Where one kind of memory keeps its items; `open` gives a memory there, again and again."""

    kind: str
    folder: Path
    kv: DictKV = field(default_factory=DictKV)
    opened: list = field(default_factory=list)

    def open(self, **options):
        """Return a provider; `embedder` is used by the kinds that rank by meaning."""
        embedder = options.pop("embedder", None) or HashEmbedder()
        if self.kind not in VECTOR_KINDS:
            options.pop("min_score", None)
        provider = self._provider(embedder, options)
        self.opened.append(provider)
        return provider

    def _provider(self, embedder, options):
        match self.kind:
            case "memory":
                return InMemoryMemory(**options)
            case "file":
                return FileMemory(self.folder / "files", **options)
            case "kv":
                return KVMemory(self.kv, **options)
            case "sqlite":
                return SqliteMemory(self.folder / "memory.db", **options)
            case "memory-vectors":
                return InMemoryVectorMemory(embedder=embedder, **options)
            case _:
                return SqliteVectorMemory(self.folder / "memory.db", embedder=embedder, **options)

    def close(self):
        for provider in self.opened:
            blocking(provider).close()


def _place(request, tmp_path):
    place = Place(request.param, tmp_path)
    yield place
    place.close()


@pytest.fixture(params=ALL_KINDS)
def every_place(request, tmp_path):
    yield from _place(request, tmp_path)


@pytest.fixture(params=KEYWORD_KINDS)
def every_keyword_place(request, tmp_path):
    yield from _place(request, tmp_path)


@pytest.fixture(params=VECTOR_KINDS)
def every_vector_place(request, tmp_path):
    yield from _place(request, tmp_path)


@pytest.fixture(params=LASTING_KINDS)
def every_lasting_place(request, tmp_path):
    yield from _place(request, tmp_path)


@pytest.fixture
def every_provider(every_place):
    return every_place.open()


@pytest.fixture
def every_vector_provider(every_vector_place):
    return every_vector_place.open()


@pytest.fixture
def public_folder():
    """A folder that every user of the machine may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def texts_of(items):
    return [item.text for item in items]


def in_forked_child(work: Callable[[], object], *, timeout: float = 30.0, meanwhile: Callable[[], object] = int):
    """Return what `work` returns in a forked child; fail where the child raises or hangs.

    `meanwhile` is called in the parent after the fork.
    """
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    receiving, sending = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is what is tested
        child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(timeout * 0.8, file=2)  # tells where it hangs
        _report(sending, work)
    os.close(sending)
    try:
        meanwhile()
        answer = _read_all(receiving, timeout)
    finally:
        os.close(receiving)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert answer is not None, "the forked child hangs"
    succeeded, result = pickle.loads(answer)
    assert succeeded, result
    return result


def as_nobody(work):
    """Return what `work` returns as a user who owns nothing."""
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can become another user")

    def demoted():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return work()

    return in_forked_child(demoted)


def _report(sending, work):
    try:
        answer = pickle.dumps((True, work()))
    except BaseException as error:
        answer = pickle.dumps((False, repr(error)))
    os.write(sending, answer)
    sys.stdout = sys.stderr = None
    os._exit(0)


def _read_all(receiving, timeout):
    answer = b""
    while select.select([receiving], [], [], timeout)[0]:
        chunk = os.read(receiving, 65536)
        if not chunk:
            return answer
        answer += chunk
    return None
