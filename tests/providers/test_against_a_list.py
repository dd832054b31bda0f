"""Every provider, driven at random beside a plain list."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.conftest import DictKV
from tests.providers.machine import MAX_ITEMS, MemoryMachine, by_cosine
from vectormem import (
    FileMemory,
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
)
from vectormem.testing import ScriptedEmbedder

VECTORS = {
    "red": (1, 0, 0),
    "reds": (1, 0, 0),
    "red green": (1, 1, 0),
    "Green grass": (0, 2, 0),
    "green, red & blue": (3, 2, 1),
    "blue": (0, 0, 1),
    "an ox": (0, 0, 0),
    "glass": (-1, 0, 5),
    "green": (0, 1, 0),
    "ox": (0, 0, 0),
    "nothing": (-1, -1, -1),
    "red green blue": (1, 2, 4),
}


class InMemoryMachine(MemoryMachine):
    def open(self):
        return InMemoryMemory(max_items=MAX_ITEMS)


class KVMachine(MemoryMachine):
    def open(self):
        self.kv = DictKV()
        return self.reopen()

    def reopen(self):
        return KVMemory(self.kv, max_items=MAX_ITEMS)


class FolderMachine(MemoryMachine):
    """A memory in a folder of its own."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self):
        self.folder.cleanup()


class FileMachine(FolderMachine):
    def open(self):
        return self.reopen()

    def reopen(self):
        return FileMemory(self.folder.name, max_items=MAX_ITEMS)


class SqliteMachine(FolderMachine):
    store = None

    def open(self):
        return self.reopen()

    def reopen(self):
        if self.store:
            self.store.close()
        self.store = SqliteStore(Path(self.folder.name) / "memory.db")
        return self.provider()

    def provider(self):
        return SqliteMemory(self.store, max_items=MAX_ITEMS)

    def teardown(self):
        if self.store:
            self.store.close()
        super().teardown()


class InMemoryVectorMachine(MemoryMachine):
    def open(self):
        return InMemoryVectorMemory(embedder=ScriptedEmbedder(VECTORS, dimensions=3), max_items=MAX_ITEMS)

    def ranked(self, items, query):
        return by_cosine(items, query, VECTORS)


class SqliteVectorMachine(SqliteMachine):
    def provider(self):
        embedder = ScriptedEmbedder(VECTORS, dimensions=3)
        return SqliteVectorMemory(self.store, embedder=embedder, max_items=MAX_ITEMS)

    def ranked(self, items, query):
        return by_cosine(items, query, VECTORS)


@pytest.mark.parametrize(
    ("machine", "examples"),
    [
        (InMemoryMachine, 60),
        (InMemoryVectorMachine, 60),
        (KVMachine, 40),
        (FileMachine, 12),
        (SqliteMachine, 25),
        (SqliteVectorMachine, 25),
    ],
)
def test_a_provider_holds_and_finds_what_a_plain_list_does(machine, examples):
    case = type(machine.__name__, (machine.TestCase,), {})
    case.settings = settings(
        max_examples=examples, stateful_step_count=25, deadline=None, database=None, derandomize=True
    )
    case("runTest").runTest()
