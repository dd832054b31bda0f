"""Correction: an item whose key fields equal a stored one's takes its place."""

import asyncio

import pytest

from tests.providers.stand_ins import MinimalProvider, UpsertingProvider
from vectormem import (
    MemoryRun,
    SqliteStore,
    SqliteVectorMemory,
    blocking,
    define_memory,
)
from vectormem.testing import HashEmbedder

KEY = "facts#global"
SCHEMA = {"type": "object", "properties": {"topic": {}, "value": {}, "place": {}}}


@pytest.fixture
def provider(every_provider):
    return every_provider


def define(provider, item_key="topic"):
    return define_memory(name="facts", scope="global", provider=provider, item_schema=SCHEMA, item_key=item_key)


def remember(slot, **fields):
    return blocking(MemoryRun([slot])).call("remember_facts", fields)


def values(slot):
    return [item.metadata for item in blocking(slot.provider).list(KEY)]


def test_an_equal_key_replaces_the_item_which_keeps_its_id(provider):
    slot = define(provider)
    first = remember(slot, topic="language", value="French")
    second = remember(slot, topic="language", value="English")
    assert second == {"remembered": first["remembered"], "replaced": True}
    items = list(blocking(provider).list(KEY))
    assert [(item.id, item.text, item.metadata) for item in items] == [
        (first["remembered"], '{"topic":"language","value":"English"}', {"topic": "language", "value": "English"})
    ]


def test_a_first_item_replaces_nothing(provider):
    assert list(remember(define(provider), topic="language", value="French")) == ["remembered"]


def test_a_replaced_item_becomes_the_newest(provider):
    slot = define(provider)
    remember(slot, topic="language", value="French")
    remember(slot, topic="city", value="Oslo")
    remember(slot, topic="language", value="English")
    assert values(slot) == [{"topic": "language", "value": "English"}, {"topic": "city", "value": "Oslo"}]


def test_items_with_another_key_stay(provider):
    slot = define(provider)
    for topic in ("language", "Language", "language ", 1, True, "1", None, ["language"], {"a": 1}):
        remember(slot, topic=topic, value="old")
    remember(slot, topic=1, value="new")
    kept = [item["topic"] for item in values(slot)]
    assert [(type(topic), topic) for topic in kept] == [
        (int, 1),
        (dict, {"a": 1}),
        (list, ["language"]),
        (type(None), None),
        (str, "1"),
        (bool, True),
        (str, "language "),
        (str, "Language"),
        (str, "language"),
    ]


def test_all_fields_of_a_list_have_to_be_equal(provider):
    slot = define(provider, ["topic", "place"])
    remember(slot, topic="name", place="home", value="Al")
    remember(slot, topic="name", place="work", value="Alan")
    assert remember(slot, place="work", topic="name", value="Dr Alan")["replaced"] is True
    assert [item["value"] for item in values(slot)] == ["Dr Alan", "Al"]


def test_an_absent_field_counts_as_null(provider):
    slot = define(provider, ["topic", "place"])
    first = remember(slot, topic="name", value="Al")
    assert remember(slot, topic="name", place=None, value="Alan") == {**first, "replaced": True}
    assert "replaced" not in remember(slot, topic="name", place="work", value="Dr Alan")


def test_fields_with_objects_are_equal_whatever_the_order_of_their_keys(provider):
    slot = define(provider)
    remember(slot, topic={"a": 1, "b": [2]}, value="old")
    assert remember(slot, topic={"b": [2], "a": 1}, value="new")["replaced"] is True


def test_items_without_metadata_are_never_replaced(provider):
    slot = define(provider)
    blocking(provider).add(KEY, "added from code")
    remember(slot, value="no topic")
    assert values(slot) == [{"value": "no topic"}, None]


def test_older_items_that_match_too_are_removed(provider):
    slot = define(provider)
    memory = blocking(provider)
    memory.add(KEY, "one", metadata={"topic": "language", "value": 1})
    newest = memory.add(KEY, "two", metadata={"topic": "language", "value": 2})
    memory.add(KEY, "other", metadata={"topic": "city"})
    assert remember(slot, topic="language", value=3) == {"remembered": newest.id, "replaced": True}
    assert values(slot) == [{"topic": "language", "value": 3}, {"topic": "city"}]


def test_the_same_item_again_is_still_one_item(provider):
    slot = define(provider)
    first = remember(slot, topic="language", value="French")
    remember(slot, topic="city", value="Oslo")
    assert remember(slot, topic="language", value="French") == {**first, "replaced": True}
    assert values(slot) == [{"topic": "language", "value": "French"}, {"topic": "city", "value": "Oslo"}]


def test_a_slot_reads_no_items_of_another_slot(provider):
    facts = define(provider)
    other = define_memory(name="other", scope="global", provider=provider, item_schema=SCHEMA, item_key="topic")
    remember(facts, topic="language", value="French")
    blocking(MemoryRun([other])).call("remember_other", {"topic": "language", "value": "English"})
    assert values(facts) == [{"topic": "language", "value": "French"}]


def test_writers_at_the_same_time_leave_one_item_of_a_key(provider):
    async def write():
        runs = [MemoryRun([define(provider)]) for _ in range(2)]
        calls = [runs[n % 2].call("remember_facts", {"topic": "language", "value": n}) for n in range(10)]
        return await asyncio.gather(*calls)

    results = asyncio.run(write())
    assert len({result["remembered"] for result in results}) == 1
    assert sum("replaced" not in result for result in results) == 1
    assert [item["topic"] for item in values(define(provider))] == ["language"]


def test_two_stores_on_one_file_leave_one_item_of_a_key(tmp_path):
    async def write():
        with SqliteStore(tmp_path / "memory.db") as one, SqliteStore(tmp_path / "memory.db") as two:
            slots = [define(SqliteVectorMemory(store, embedder=HashEmbedder())) for store in (one, two)]
            runs = [MemoryRun([slot]) for slot in slots]
            await asyncio.gather(
                *(runs[n % 2].call("remember_facts", {"topic": "language", "value": n}) for n in range(10))
            )
            return await slots[0].provider.list(KEY)

    items = asyncio.run(write())
    assert [item.metadata["topic"] for item in items] == ["language"]


def test_a_custom_provider_without_upsert_gets_remove_and_then_add():
    provider = MinimalProvider()
    slot = define(provider)
    first = remember(slot, topic="language", value="French")
    remember(slot, topic="city", value="Oslo")
    provider.calls.clear()
    second = remember(slot, topic="language", value="English")
    assert second["replaced"] is True
    assert second["remembered"] != first["remembered"]
    assert provider.calls == [
        ("list", KEY, 100_000, None),
        ("remove", KEY, first["remembered"]),
        ("add", KEY, '{"topic":"language","value":"English"}'),
    ]
    assert values(slot) == [{"topic": "language", "value": "English"}, {"topic": "city", "value": "Oslo"}]


def test_a_custom_provider_with_upsert_replaces_in_place_and_loses_older_matches():
    provider = UpsertingProvider()
    slot = define(provider)
    memory = blocking(provider)
    old = memory.add(KEY, "one", metadata={"topic": "language"})
    newest = memory.add(KEY, "two", metadata={"topic": "language"})
    provider.calls.clear()
    assert remember(slot, topic="language", value="English") == {"remembered": newest.id, "replaced": True}
    assert provider.calls == [
        ("list", KEY, 100_000, None),
        ("remove", KEY, old.id),
        ("upsert", KEY, '{"topic":"language","value":"English"}', newest.id),
    ]
    assert values(slot) == [{"topic": "language", "value": "English"}]


def test_a_custom_provider_without_a_match_gets_a_new_item():
    for provider in (MinimalProvider(), UpsertingProvider()):
        slot = define(provider)
        remember(slot, topic="language", value="French")
        assert "replaced" not in remember(slot, topic="city", value="Oslo")
        assert values(slot) == [{"topic": "city", "value": "Oslo"}, {"topic": "language", "value": "French"}]
