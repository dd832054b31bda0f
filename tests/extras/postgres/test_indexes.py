"""Large keys: an index of their own, the same answers, and never fewer than there are."""

import logging

import numpy as np
import pytest
from psycopg import sql

from vectormem import PostgresVectorMemory, SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores.postgres import search as search_module

COUNT = 600


class Spread:
    """Gives the text "n" the n-th of many vectors, and any other text one between them."""

    def __init__(self, dimensions, id="spread"):
        self.id = id
        self.dimensions = dimensions
        chance = np.random.default_rng(5)
        self._vectors = chance.normal(size=(COUNT, dimensions)).astype(np.float32)

    async def embed(self, texts, *, kind="document"):
        return np.stack(
            [self._vectors[int(text) % COUNT] if kind == "document" else self._asked(text) for text in texts]
        )

    def _asked(self, text):
        return self._vectors[int(text)] + 0.3 * self._vectors[int(text) + 1]


@pytest.fixture
def small_limit(monkeypatch):
    """Let keys count as large at once."""
    monkeypatch.setattr(search_module, "TWO_STAGE_FLOATS", 1)


def indexes(store):
    found = store.read(
        lambda db: db.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname=%s AND indexname LIKE '%%near%%'",
            (store.schema,),
        ).fetchall()
    )
    return dict(found)


def plan(store, embedder, dimensions):
    """Return how the server answers the query of the index."""
    from pgvector import Vector

    from vectormem.stores.postgres.indexes import NearIndex

    def explain(connection):
        key, made_by = connection.execute("SELECT k.id, e.id FROM memory_keys k, memory_embedders e").fetchone()
        connection.execute(search_module._INDEX_SETTINGS, ("200",))
        query = "EXPLAIN " + NearIndex(key, made_by, dimensions).nearest
        lines = connection.execute(query, (Vector(np.ones(dimensions)), 10)).fetchall()
        return "\n".join(line for (line,) in lines)

    return store.read(explain)


def filled(store, dimensions, **options):
    memory = blocking(PostgresVectorMemory(store, embedder=Spread(dimensions), max_items=None, min_score=-1, **options))
    memory.add_many("k", [str(number) for number in range(COUNT)])
    return memory


@pytest.mark.parametrize(
    ("dimensions", "type"), [(8, "vector_ip_ops"), (2000, "vector_ip_ops"), (2100, "halfvec_ip_ops")]
)
def test_a_large_key_is_searched_through_an_index_with_the_scores_of_sqlite(store, small_limit, dimensions, type):
    memory = filled(store, dimensions)
    exact = blocking(
        SqliteVectorMemory(SqliteStore(":memory:"), embedder=Spread(dimensions), max_items=None, min_score=-1)
    )
    exact.add_many("k", [str(number) for number in range(COUNT)])
    wanted = [[(item.text, item.score) for item in exact.list("k", query=str(n), limit=10)] for n in range(0, 500, 25)]
    assert [[(i.text, i.score) for i in memory.list("k", query=str(n), limit=10)] for n in range(0, 500, 25)] == wanted
    store.indexes.wait()
    (definition,) = indexes(store).values()
    assert "USING hnsw" in definition
    assert type in definition
    assert "Index Scan using memory_vectors_near" in plan(store, "spread", dimensions)
    found = [[(i.text, i.score) for i in memory.list("k", query=str(n), limit=10)] for n in range(0, 500, 25)]
    same = sum(len(set(one) & set(other)) for one, other in zip(found, wanted, strict=True))
    assert same >= 0.99 * 200
    assert all(one[0] == other[0] for one, other in zip(found, wanted, strict=True))


def test_above_4000_dimensions_there_is_no_index(store, small_limit):
    memory = filled(store, 4001)
    assert memory.list("k", query="7", limit=1)[0].text == "7"
    store.indexes.wait()
    assert indexes(store) == {}


def test_an_exact_provider_and_a_search_without_a_limit_need_no_index(store, small_limit):
    memory = filled(store, 8, exact=True)
    assert memory.list("k", query="7", limit=1)[0].text == "7"
    assert len(memory.list("k", query="7")) == COUNT
    store.indexes.wait()
    assert indexes(store) == {}


def test_a_small_key_gets_no_index(store):
    memory = filled(store, 8)
    memory.list("k", query="7", limit=1)
    store.indexes.wait()
    assert indexes(store) == {}


def test_all_that_exist_are_found_whatever_the_index_has_seen(store, small_limit):
    """plastic-labs/honcho#1048"""
    memory = filled(store, 8)
    memory.list("k", query="7", limit=1)
    store.indexes.wait()
    assert len(memory.list("k", query="7", limit=COUNT - 1)) == COUNT - 1
    assert len(memory.list("k", query="7", limit=COUNT + 50)) == COUNT
    for item in list(memory.list("k"))[: COUNT - 20]:
        memory.remove("k", item.id)
    assert len(memory.list("k", query="7", limit=20)) == 20
    assert len(memory.list("k", query="7", limit=15)) == 15


def test_equal_scores_are_newest_first_through_the_index_too(store, small_limit):
    memory = filled(store, 8)
    memory.add_many("k", [str(number) for number in range(COUNT, COUNT + 3)])  # the vectors of 0, 1 and 2 again
    memory.list("k", query="1", limit=2)
    store.indexes.wait()
    assert [item.text for item in memory.list("k", query="1", limit=2)] == [str(COUNT + 1), "1"]


def test_new_and_replaced_items_are_found_through_the_index(store, small_limit):
    memory = filled(store, 8)
    memory.list("k", query="1", limit=2)
    store.indexes.wait()
    first = memory.list("k", query="5", limit=1)[0]
    assert first.text == "5"
    memory.remove("k", first.id)
    assert memory.list("k", query="5", limit=1)[0].text != "5"
    memory.add("k", "5")
    assert memory.list("k", query="5", limit=1)[0].text == "5"


def test_two_embedders_on_one_key_have_an_index_each(store, small_limit):
    filled(store, 8).list("k", query="1", limit=1)
    store.indexes.wait()
    other = blocking(PostgresVectorMemory(store, embedder=Spread(24, "other"), max_items=None, min_score=-1))
    assert other.reindex() == COUNT
    assert other.list("k", query="3", limit=1)[0].text == "3"
    store.indexes.wait()
    assert len(indexes(store)) == 2
    assert other.list("k", query="3", limit=1)[0].text == "3"


def test_what_an_interrupted_build_has_left_is_built_again_and_a_gone_key_gives_its_index_back(
    store, small_limit, admin
):
    memory = filled(store, 8)
    memory.list("k", query="1", limit=1)
    store.indexes.wait()
    (name,) = indexes(store)
    admin.execute("UPDATE pg_index SET indisvalid=false WHERE indexrelid=%s::regclass", (f"{store.schema}.{name}",))
    store.indexes._tried.clear()
    assert memory.list("k", query="1", limit=1)[0].text == "1"
    store.indexes.wait()
    assert "Index Scan using memory_vectors_near" in plan(store, "spread", 8)
    memory.clear("k")
    memory.add_many("other", [str(number) for number in range(COUNT)])
    memory.list("other", query="1", limit=1)
    store.indexes.wait()
    assert len(indexes(store)) == 1
    assert name not in indexes(store)


def test_a_role_that_may_not_build_warns_once_and_searches_on(opened, store, dsn, admin, small_limit, caplog):
    from psycopg.conninfo import make_conninfo

    role = f"{store.schema}_role"
    for statement in (
        "CREATE ROLE {role} LOGIN",
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    ):
        admin.execute(sql.SQL(statement).format(role=sql.Identifier(role), schema=sql.Identifier(store.schema)))
    try:
        poor = opened(dsn=make_conninfo(dsn, user=role))
        memory = filled(poor, 8)
        with caplog.at_level(logging.WARNING, "vectormem"):
            for _ in range(3):
                assert memory.list("k", query="1", limit=1)[0].text == "1"
                poor.indexes.wait()
        assert caplog.text.count("could not be built") == 1
        assert "CREATE INDEX CONCURRENTLY" in caplog.text
        poor.close()
    finally:
        admin.execute(f"DROP OWNED BY {role} CASCADE")
        admin.execute(f"DROP ROLE {role}")


def test_no_index_is_built_where_the_store_is_told_so(opened, small_limit):
    store = opened(builds_indexes=False)
    filled(store, 8).list("k", query="1", limit=1)
    store.indexes.wait()
    assert indexes(store) == {}


def test_closing_breaks_off_what_is_being_built(opened, small_limit):
    store = opened()
    filled(store, 8).list("k", query="1", limit=1)
    store.close()
    assert store.indexes._thread is None
