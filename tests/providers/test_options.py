"""The options of the built-in providers."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryInvalidError,
    MemoryItem,
    MemoryProvider,
    SqliteVectorMemory,
    UpsertProvider,
    blocking,
)
from vectormem.testing import HashEmbedder

KEY = "notes#global"


def test_every_provider_is_one_that_can_upsert(every_provider):
    assert isinstance(every_provider, MemoryProvider)
    assert isinstance(every_provider, UpsertProvider)


def test_the_default_cap_is_a_thousand_items_and_five_thousand_with_vectors(every_provider):
    assert every_provider.max_items == (5000 if every_provider.ranks_by_meaning else 1000)


@pytest.mark.parametrize("max_items", [0, -1, True, 2.5, "3", float("nan")])
def test_a_cap_that_is_no_positive_whole_number_is_refused(every_place, max_items):
    with pytest.raises(MemoryInvalidError, match="max_items"):
        every_place.open(max_items=max_items)


def test_a_memory_of_one_item_keeps_the_new_one(every_place):
    memory = blocking(every_place.open(max_items=1))
    memory.add(KEY, "one")
    two = memory.add(KEY, "two")
    assert list(memory.list(KEY)) == [two]
    assert [item.text for item in memory.add_many(KEY, ["three", "two"])] == ["three", "two"]
    assert [item.text for item in memory.list(KEY)] == ["two"]


def test_the_item_beyond_the_default_cap_drops_the_oldest(every_place):
    memory = blocking(every_place.open())
    cap = memory.target.max_items
    memory.add_many(KEY, [f"item {n}" for n in range(cap)])
    assert memory.count(KEY) == cap
    memory.add(KEY, "one more")
    assert memory.count(KEY) == cap
    assert [item.text for item in memory.list(KEY)][::-1][:2] == ["item 1", "item 2"]


def test_without_a_cap_nothing_is_dropped(every_place):
    memory = blocking(every_place.open(max_items=None))
    memory.add_many(KEY, [f"item {n}" for n in range(1100)])
    assert memory.count(KEY) == 1100


def test_a_smaller_cap_on_a_fuller_memory_keeps_the_newest_at_the_next_add(every_lasting_place):
    blocking(every_lasting_place.open()).add_many(KEY, ["one", "two", "three", "four"])
    memory = blocking(every_lasting_place.open(max_items=2))
    assert memory.count(KEY) == 4
    memory.add(KEY, "five")
    assert [item.text for item in memory.list(KEY)] == ["five", "four"]


def test_ids_come_from_the_given_function(every_place):
    memory = blocking(every_place.open(new_id=iter(["id-1", "id-2"]).__next__))
    memory.add_many(KEY, ["one", "two"])
    assert [item.id for item in memory.list(KEY)] == ["id-2", "id-1"]


def test_order_is_that_of_insertion_also_where_the_clock_stands_still_or_goes_back(every_place):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = iter([start, start, start - timedelta(days=1), start - timedelta(days=2), start])
    memory = blocking(every_place.open(clock=times.__next__))
    for text in ("one", "two", "three", "four", "five"):
        memory.add(KEY, text)
    assert [item.text for item in memory.list(KEY)] == ["five", "four", "three", "two", "one"]
    if not memory.target.ranks_by_meaning:
        found = memory.list(KEY, query="one two three four five")
        assert [item.text for item in found] == ["five", "four", "three", "two", "one"]


def test_an_upsert_gives_the_item_a_new_time(every_place):
    moments = iter(datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2))
    memory = blocking(every_place.open(clock=moments.__next__))
    item = memory.add(KEY, "one")
    assert item.created_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert memory.upsert(KEY, "two", id=item.id).created_at == datetime(2026, 1, 2, tzinfo=UTC)


def test_times_are_kept_to_the_microsecond_and_in_utc(every_place):
    moment = datetime(2026, 7, 1, 14, 30, 15, 123457, timezone(timedelta(hours=2)))
    memory = blocking(every_place.open(clock=lambda: moment))
    memory.add(KEY, "one")
    item = memory.list(KEY)[0]
    assert item.created_at == moment
    assert item.model_dump(mode="json")["created_at"] == "2026-07-01T12:30:15.123457Z"


@pytest.mark.parametrize("id", ["", " ", "a b", "a\nb", "a\0", "a\u2028b", "x" * 256, "\ud83d", 7, b"id"])
def test_an_id_with_white_space_or_control_characters_is_refused(every_provider, id):
    memory = blocking(every_provider)
    with pytest.raises(MemoryInvalidError, match="id"):
        memory.upsert(KEY, "text", id=id)
    item = MemoryItem.model_construct(id=id, text="text", created_at=datetime(2026, 1, 1, tzinfo=UTC), metadata=None)
    with pytest.raises(MemoryInvalidError, match="id"):
        memory.restore(KEY, [item])
    assert list(memory.list(KEY)) == []


@pytest.mark.parametrize("id", ["x" * 255, "ünï-🎉", "%", "a/b", "(id:x)"])
def test_any_other_id_is_kept(every_provider, id):
    memory = blocking(every_provider)
    memory.upsert(KEY, "text", id=id)
    assert memory.get(KEY, id).id == id
    assert memory.remove(KEY, id) is True


@pytest.mark.parametrize("embedder", [None, object(), "hash", HashEmbedder])
def test_a_vector_provider_needs_an_embedder(embedder, tmp_path):
    with pytest.raises(MemoryInvalidError, match="embedder"):
        InMemoryVectorMemory(embedder=embedder)
    with pytest.raises(MemoryInvalidError, match="embedder"):
        SqliteVectorMemory(":memory:", embedder=embedder)


@pytest.mark.parametrize("id", ["", None, 7])
def test_an_embedder_needs_an_id(id):
    embedder = HashEmbedder()
    embedder.id = id
    with pytest.raises(MemoryInvalidError, match="id"):
        InMemoryVectorMemory(embedder=embedder)


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        InMemoryMemory(5)
    with pytest.raises(TypeError):
        InMemoryVectorMemory(HashEmbedder())
