"""The recall tool: what it finds and what it shows."""

import pytest

from tests.providers.stand_ins import MinimalProvider
from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryRun,
    blocking,
    define_memory,
)
from vectormem.testing import ScriptedEmbedder

KEY = "notes#global"


def define(provider=None, **options):
    return define_memory(**{"name": "notes", "scope": "global", "provider": provider or InMemoryMemory(), **options})


def tools_of(slot, context=None):
    return {tool.name: tool for tool in MemoryRun([slot], context).tools}


def call(slot, tool, arguments):
    return blocking(MemoryRun([slot])).call(tool, arguments)


def descriptions(slot, context=None):
    return [tool.description for tool in tools_of(slot, context).values()]


def test_recall_of_a_vector_memory_searches_by_meaning():
    slot = define(InMemoryVectorMemory(embedder=ScriptedEmbedder()))
    assert descriptions(slot)[1] == 'Search the "notes" memory by meaning, most relevant first.'


def test_recall_of_other_memories_says_newest_first():
    assert "newest items first" in descriptions(define())[1]
    assert "newest items first" in descriptions(define(MinimalProvider()))[1]


def test_a_custom_provider_may_say_that_it_ranks_by_meaning():
    provider = MinimalProvider()
    provider.ranks_by_meaning = True
    assert descriptions(define(provider))[1] == 'Search the "notes" memory by meaning, most relevant first.'


def test_the_input_of_recall_is_an_optional_query_and_limit():
    schema = tools_of(define())["recall_notes"].input_schema
    assert {name: one["type"] for name, one in schema["properties"].items()} == {"query": "string", "limit": "integer"}
    assert schema["properties"]["limit"]["minimum"] == 1
    assert ("required" in schema, schema["additionalProperties"]) == (False, False)


def test_recall_takes_nulls_for_what_is_left_out():
    slot = define()
    blocking(slot.provider).add(KEY, "likes tea")
    assert len(call(slot, "recall_notes", {"query": None, "limit": None})["items"]) == 1


def test_recall_without_a_query_gives_the_newest_with_id_text_and_time():
    slot = define()
    memory = blocking(slot.provider)
    old, new = memory.add(KEY, "likes tea"), memory.add(KEY, "lives in Oslo")

    def iso(item):
        return item.created_at.isoformat().replace("+00:00", "Z")

    assert call(slot, "recall_notes", {}) == {
        "items": [
            {"id": new.id, "text": "lives in Oslo", "createdAt": iso(new)},
            {"id": old.id, "text": "likes tea", "createdAt": iso(old)},
        ],
    }


def test_recall_with_a_query_looks_for_it():
    slot = define()
    memory = blocking(slot.provider)
    memory.add(KEY, "likes tea")
    memory.add(KEY, "lives in Oslo")
    assert [item["text"] for item in call(slot, "recall_notes", {"query": "Tea?"})["items"]] == ["likes tea"]
    assert call(slot, "recall_notes", {"query": "coffee"}) == {"items": []}


def test_recall_shows_scores_where_the_provider_ranked():
    embedder = ScriptedEmbedder({"near": (3, 4), "query": (1, 0)})
    slot = define(InMemoryVectorMemory(embedder=embedder))
    item = blocking(slot.provider).add(KEY, "near")
    shown = call(slot, "recall_notes", {"query": "query"})["items"][0]
    assert (shown["id"], shown["text"], shown["score"]) == (item.id, "near", pytest.approx(0.6, abs=1e-6))
    assert "metadata" not in shown
    assert "score" not in call(slot, "recall_notes", {})["items"][0]


def test_recall_shows_metadata_nested_and_without_the_added_score():
    embedder = ScriptedEmbedder({"near": (1, 0), "query": (1, 0)})
    slot = define(InMemoryVectorMemory(embedder=embedder))
    blocking(slot.provider).add(KEY, "near", metadata={"source": "chat"})
    shown = call(slot, "recall_notes", {"query": "query"})["items"][0]
    assert (shown["metadata"], shown["score"]) == ({"source": "chat"}, 1.0)


def test_recall_shows_a_score_of_the_users_own_as_metadata():
    slot = define()
    blocking(slot.provider).add(KEY, "won", metadata={"score": "3:1"})
    assert call(slot, "recall_notes", {"query": "won"})["items"][0]["metadata"] == {"score": "3:1"}


def test_recall_leaves_empty_metadata_out():
    slot = define()
    blocking(slot.provider).add(KEY, "likes tea", metadata={})
    assert "metadata" not in call(slot, "recall_notes", {})["items"][0]


def test_the_default_limit_of_recall_is_that_of_the_slot():
    slot = define(recall={"max_items": 3})
    blocking(slot.provider).add_many(KEY, [f"item {n}" for n in range(5)])
    assert [item["text"] for item in call(slot, "recall_notes", {})["items"]] == ["item 4", "item 3", "item 2"]
    assert len(call(slot, "recall_notes", {"limit": 4})["items"]) == 4


def test_recall_returns_at_most_a_hundred_items():
    slot = define()
    blocking(slot.provider).add_many(KEY, [f"item {n}" for n in range(150)])
    shown = [item["text"] for item in call(slot, "recall_notes", {"limit": 10**9})["items"]]
    assert shown == [f"item {n}" for n in range(149, 49, -1)]


def test_recall_of_a_slot_that_recalls_more_than_a_hundred_returns_a_hundred():
    provider = MinimalProvider()
    call(define(provider, recall={"max_items": 500}), "recall_notes", {})
    assert provider.calls == [("list", KEY, 100, None)]


def test_the_texts_that_recall_returns_keep_to_the_slots_budget():
    slot = define(recall={"max_chars": 100})
    blocking(slot.provider).add_many(KEY, ["c" * 20, "b" * 90, "a" * 30])
    assert [item["text"] for item in call(slot, "recall_notes", {})["items"]] == ["a" * 30, "c" * 20]


def test_a_whole_number_written_as_a_float_is_a_limit():
    slot = define()
    blocking(slot.provider).add_many(KEY, ["one", "two", "three"])
    assert len(call(slot, "recall_notes", '{"limit": 2.0}')["items"]) == 2
