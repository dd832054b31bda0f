"""Faults of locks, clocks and caps."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tests.conftest import texts_of
from vectormem import blocking

FROZEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("step", [timedelta(0), timedelta(hours=-1), timedelta(microseconds=-1)])
def test_items_of_one_moment_or_of_a_clock_that_goes_back_keep_their_order(every_place, step):
    """inclusionAI/Avernet#857, vshulcz/deja-vu#713, patrickmn/go-cache#161"""
    ticks = count()
    memory = blocking(every_place.open(clock=lambda: FROZEN + next(ticks) * step))
    for number in range(5):
        memory.add("k", f"tea {number}")
    newest_first = [f"tea {number}" for number in (4, 3, 2, 1, 0)]
    memories = [memory] if every_place.kind.startswith("memory") else [memory, blocking(every_place.open())]
    for one in memories * 10:
        assert texts_of(one.list("k")) == newest_first
        assert texts_of(one.list("k", query="tea")) == newest_first
        assert texts_of(one.list("k", limit=2)) == ["tea 4", "tea 3"]


def test_the_item_that_was_just_added_is_never_the_one_that_is_dropped(every_place):
    """BetterDB-inc/monitor#253"""
    memory = blocking(every_place.open(max_items=1, clock=lambda: FROZEN))
    for text in ("one", "two", "three"):
        item = memory.add("k", text)
        assert [(kept.id, kept.text) for kept in memory.list("k")] == [(item.id, text)]
        assert memory.get("k", item.id) == item


def test_a_clock_that_goes_back_drops_the_items_that_came_first(every_place):
    """BetterDB-inc/monitor#253"""
    ticks = count()
    memory = blocking(every_place.open(max_items=3, clock=lambda: FROZEN - next(ticks) * timedelta(days=1)))
    for number in range(6):
        memory.add("k", f"{number}")
    assert texts_of(memory.list("k")) == ["5", "4", "3"]


def test_a_batch_larger_than_the_cap_keeps_its_last_texts_and_answers_for_all(every_place):
    """BetterDB-inc/monitor#253"""
    memory = blocking(every_place.open(max_items=2, clock=lambda: FROZEN))
    memory.add("k", "b")
    items = memory.add_many("k", ["a", "b", "c", "a", "d"])
    assert texts_of(items) == ["a", "b", "c", "a", "d"]
    assert memory.list("k") == [items[4], items[2]]
