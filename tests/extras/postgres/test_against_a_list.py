"""Memories in Postgres, driven at random beside a plain list and beside SQLite."""

import uuid

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from psycopg import sql

from tests.providers.machine import IDS, KEYS, MAX_ITEMS, METADATA, QUERIES, TEXTS, MemoryMachine, by_cosine
from tests.providers.test_against_a_list import VECTORS
from vectormem import PostgresMemory, PostgresStore, PostgresVectorMemory, SqliteStore, SqliteVectorMemory, blocking
from vectormem.testing import ScriptedEmbedder


class InPostgres:
    """Opens a schema of its own for each run."""

    dsn = ""

    def open_store(self):
        self.schema = f"test_{uuid.uuid4().hex[:12]}"
        self.store = PostgresStore(self.dsn, schema=self.schema, pool_size=2)

    def teardown(self):
        self.store.close()
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(self.schema)))


class PostgresMachine(InPostgres, MemoryMachine):
    def open(self):
        self.open_store()
        return PostgresMemory(self.store, max_items=MAX_ITEMS)

    def reopen(self):
        self.store.close()
        self.store = PostgresStore(self.dsn, schema=self.schema, pool_size=2)
        return PostgresMemory(self.store, max_items=MAX_ITEMS)


class PostgresVectorMachine(InPostgres, MemoryMachine):
    def open(self):
        self.open_store()
        embedder = ScriptedEmbedder(VECTORS, dimensions=3)
        return PostgresVectorMemory(self.store, embedder=embedder, max_items=MAX_ITEMS)

    def ranked(self, items, query):
        return by_cosine(items, query, VECTORS)


class BesideSqlite(InPostgres, RuleBasedStateMachine):
    """The same calls on both, in every ranking and with changing embedders: the same answers."""

    @initialize(ranking=st.sampled_from(["vector", "keyword", "hybrid"]))
    def start(self, ranking):
        self.open_store()
        self.sqlite = SqliteStore(":memory:")
        self.ranking = ranking
        self.use(3)

    @rule(dimensions=st.sampled_from([3, 5]))
    def use(self, dimensions):
        options = {"max_items": MAX_ITEMS, "ranking": self.ranking, "min_score": 0.1}
        embedder = ScriptedEmbedder(VECTORS, dimensions=dimensions)
        numbers = [iter(range(10**6)), iter(range(10**6))]
        self.run = getattr(self, "run", -1) + 1
        self.memories = [
            blocking(kind(store, embedder=embedder, new_id=lambda ids=ids: f"{self.run}-{next(ids)}", **options))
            for (kind, store), ids in zip(
                ((PostgresVectorMemory, self.store), (SqliteVectorMemory, self.sqlite)), numbers, strict=True
            )
        ]

    @rule(key=KEYS, text=TEXTS, metadata=METADATA)
    def add(self, key, text, metadata):
        self.same("add", key, text, metadata=metadata)

    @rule(key=KEYS, texts=st.lists(TEXTS, max_size=6))
    def add_many(self, key, texts):
        self.same("add_many", key, texts)

    @rule(key=KEYS, text=TEXTS, id=st.one_of(IDS.filter(lambda one: not isinstance(one, int))), metadata=METADATA)
    def upsert(self, key, text, id, metadata):
        self.same("upsert", key, text, id=id, metadata=metadata)

    @rule(key=KEYS, position=st.integers(0, MAX_ITEMS))
    def remove(self, key, position):
        items = self.memories[0].list(key)
        self.same("remove", key, items[position].id if position < len(items) else "nobody")

    @rule(key=KEYS)
    def clear(self, key):
        self.same("clear", key)

    @rule()
    def reindex(self):
        self.same("reindex")

    @rule(key=KEYS, query=QUERIES, limit=st.one_of(st.none(), st.integers(1, 5)))
    def search(self, key, query, limit):
        self.same("list", key, query=query, limit=limit)

    @rule(key=KEYS)
    def list_all(self, key):
        self.same("list", key)
        self.same("count", key)
        self.same("scope_keys")

    def same(self, verb, *args, **options):
        here, there = (getattr(memory, verb)(*args, **options) for memory in self.memories)
        assert _plain(here) == _plain(there)

    def teardown(self):
        self.sqlite.close()
        super().teardown()


def _plain(result):
    """Leave out what differs between two calls: the time."""
    if isinstance(result, list | tuple):
        return [_plain(one) for one in result]
    return result.model_dump(exclude={"created_at"}) if hasattr(result, "model_dump") else result


@pytest.mark.parametrize(
    ("machine", "examples"), [(PostgresMachine, 20), (PostgresVectorMachine, 20), (BesideSqlite, 40)]
)
def test_postgres_holds_and_finds_the_same(machine, examples, dsn):
    case = type(machine.__name__, (type(machine.__name__, (machine,), {"dsn": dsn}).TestCase,), {})
    case.settings = settings(
        max_examples=examples, stateful_step_count=25, deadline=None, database=None, derandomize=True
    )
    case("runTest").runTest()
