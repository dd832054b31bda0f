"""Checkpoints of graphs in a SQLite file: what is stored once, and what is left after a deletion."""

import pytest

from vectormem import SqliteStore
from vectormem.stores.sqlite.checkpoints import TABLES, Checkpoints, Place, Write

LONG = ("msgpack", b"x" * 100_000)


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "m.db") as store:
        store.write(TABLES.made_in)
        yield store


def change(store, work):
    return store.write(lambda connection: work(Checkpoints(connection)))


def put(store, id, values, *, thread="t", run=None):
    checkpoint, metadata = ("msgpack", id.encode()), ("msgpack", b"{}")
    change(store, lambda rows: rows.put(Place(thread, "", id), None, run, checkpoint, metadata, values))


def counts(store):
    tables = ("graph_checkpoints", "graph_blobs", "graph_values", "graph_writes")
    return [store.read(lambda c, table=table: c.execute(f"SELECT count(*) FROM {table}").get) for table in tables]


def test_a_value_that_many_checkpoints_have_is_stored_once(store):
    for number in range(20):
        put(store, f"{number:02}", {"long": LONG, "step": ("msgpack", b"%d" % number)})
    assert counts(store) == [20, 21, 40, 0]


def test_equal_bytes_of_another_form_are_another_value(store):
    put(store, "1", {"a": ("msgpack", b"x"), "b": ("bytes", b"x")})
    found = change(store, lambda rows: rows.values(rows.latest("t", "")))
    assert found == {"a": ("msgpack", b"x"), "b": ("bytes", b"x")}


def test_no_value_is_shared_between_threads(store):
    put(store, "1", {"a": LONG}, thread="one")
    put(store, "1", {"a": LONG}, thread="two")
    change(store, lambda rows: rows.delete_thread("one"))
    assert change(store, lambda rows: rows.values(rows.latest("two", ""))) == {"a": LONG}


def test_a_deleted_thread_leaves_nothing(store):
    put(store, "1", {"a": LONG})
    change(store, lambda rows: rows.put_writes(Place("t", "", "1"), [Write("", "task", 0, "a", *LONG)], replace=False))
    change(store, lambda rows: rows.delete_thread("t"))
    assert counts(store) == [0, 0, 0, 0]


def test_a_value_goes_with_the_last_checkpoint_that_has_it(store):
    put(store, "1", {"a": LONG, "b": ("msgpack", b"1")}, run="r1")
    put(store, "2", {"a": LONG, "b": ("msgpack", b"2")}, run="r2")
    change(store, lambda rows: rows.delete(rows.of_runs(["r1"])))
    assert counts(store) == [1, 2, 2, 0]
    change(store, lambda rows: rows.delete(rows.of_runs(["r2", "r3"])))
    assert counts(store) == [0, 0, 0, 0]


def test_a_checkpoint_that_is_stored_again_keeps_its_place_in_the_order(store):
    put(store, "1", {"a": LONG})
    put(store, "2", {"a": ("msgpack", b"2")})
    put(store, "1", {"a": ("msgpack", b"new")})
    assert change(store, lambda rows: [one.id for one in rows.page({"thread": "t"}, None, -1)]) == ["2", "1"]
    assert change(store, lambda rows: rows.values(rows.get(Place("t", "", "1")))) == {"a": ("msgpack", b"new")}
    assert counts(store) == [2, 2, 2, 0]


def test_the_latest_is_the_one_stored_last_whatever_its_id(store):
    put(store, "z", {})
    put(store, "a", {})
    assert change(store, lambda rows: rows.latest("t", "").id) == "a"
