"""Two provider objects on one place, used by turns at random: together they are one plain list."""

from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, rule

from tests.providers.machine import MAX_ITEMS
from tests.providers.test_against_a_list import VECTORS, FileMachine, KVMachine, SqliteMachine, SqliteVectorMachine
from vectormem import FileMemory, KVMemory, SqliteMemory, SqliteStore, SqliteVectorMemory, blocking
from vectormem.testing import ScriptedEmbedder


class ByTurns:
    """Passes each call on to the next of several memories."""

    def __init__(self, *memories):
        self._turns = cycle(memories)

    def __getattr__(self, name):
        return getattr(next(self._turns), name)


class TwoObjects:
    """Beside the memory of the machine, a second one on the same place; subclasses say which."""

    second_store = None

    def second(self):
        raise NotImplementedError

    @initialize()
    def start(self):
        super().start()
        self.other = blocking(self.second())
        self.memory = ByTurns(self.memory, self.other)

    @rule()
    def open_again(self):
        self.memory = ByTurns(self.other, blocking(self.reopen()))

    def own_store(self):
        self.second_store = SqliteStore(Path(self.folder.name) / "memory.db")
        return self.second_store

    def teardown(self):
        if self.second_store:
            self.second_store.close()
        super().teardown()


class TwoKV(TwoObjects, KVMachine):
    def second(self):
        return KVMemory(self.kv, max_items=MAX_ITEMS)


class TwoFiles(TwoObjects, FileMachine):
    def second(self):
        return FileMemory(self.folder.name, max_items=MAX_ITEMS)


class TwoSqlite(TwoObjects, SqliteMachine):
    def second(self):
        return SqliteMemory(self.own_store(), max_items=MAX_ITEMS)


class TwoSqliteVectors(TwoObjects, SqliteVectorMachine):
    def second(self):
        return SqliteVectorMemory(
            self.own_store(), embedder=ScriptedEmbedder(VECTORS, dimensions=3), max_items=MAX_ITEMS
        )


@pytest.mark.parametrize(("machine", "examples"), [(TwoKV, 30), (TwoFiles, 8), (TwoSqlite, 15), (TwoSqliteVectors, 15)])
def test_two_objects_hold_and_find_what_one_plain_list_does(machine, examples):
    """modelcontextprotocol/servers#1819, langchain-ai/langgraph#8831"""
    case = type(machine.__name__, (machine.TestCase,), {})
    case.settings = settings(
        max_examples=examples, stateful_step_count=25, deadline=None, database=None, derandomize=True
    )
    case("runTest").runTest()
