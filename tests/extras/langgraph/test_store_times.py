"""The time that items of LangGraph's store live."""

from tests.extras.langgraph.stores import keys
from vectormem.adapters.langgraph_store import VectormemStore


def test_an_item_is_over_when_its_time_is(store, clock):
    store.put(("a",), "short", {"text": "tea"}, ttl=1)
    store.put(("b",), "long", {"text": "tea"}, ttl=10)
    clock.after(seconds=59)
    assert store.get(("a",), "short", refresh_ttl=False) is not None
    clock.after(seconds=1)
    assert store.get(("a",), "short") is None
    assert keys(store.search((), refresh_ttl=False)) == ["long"]
    assert keys(store.search((), query="tea", refresh_ttl=False)) == ["long"]
    assert store.list_namespaces() == [("b",)]
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)


def test_reading_an_item_lets_its_time_begin_anew(store, clock):
    for key in ("got", "found", "left"):
        store.put(("a",), key, {"key": key}, ttl=1)
    clock.after(seconds=50)
    store.get(("a",), "got")
    store.search(("a",), filter={"key": "found"})
    clock.after(seconds=20)
    assert sorted(keys(store.search(("a",)))) == ["found", "got"]


def test_the_configuration_gives_a_time_to_what_has_none(tmp_path, clock):
    ttl = {"default_ttl": 1, "refresh_on_read": False}
    with VectormemStore(tmp_path / "m.db", ttl=ttl, clock=clock) as store:
        store.put(("a",), "k", {})
        store.put(("a",), "for ever", {}, ttl=None)
        clock.after(seconds=40)
        store.get(("a",), "k")
        clock.after(seconds=40)
        assert keys(store.search(("a",))) == ["for ever"]


def test_what_is_over_is_read_where_the_configuration_asks_for_it_until_a_write(tmp_path, clock):
    with VectormemStore(tmp_path / "m.db", ttl={"omit_expired": False}, clock=clock) as store:
        store.put(("a",), "k", {}, ttl=1)
        clock.after(minutes=2)
        assert store.get(("a",), "k", refresh_ttl=False) is not None
        store.put(("b",), "k", {})
        assert store.get(("a",), "k") is None
