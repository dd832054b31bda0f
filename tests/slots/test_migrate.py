"""Items of earlier versions are copied from the bare scope key to the key of their slot."""

import asyncio

import pytest

from vectormem import (
    InMemoryMemory,
    MemoryContext,
    MemoryInvalidError,
    blocking,
    define_memory,
    migrate_memory_keys,
)


@pytest.fixture
def provider(every_provider):
    return every_provider


def define(provider, scope="global"):
    return define_memory(name="notes", scope=scope, provider=provider)


def migrate(slot, **options):
    return asyncio.run(migrate_memory_keys(slot, **options))


def texts(provider, key):
    return [item.text for item in blocking(provider).list(key)]


def test_items_are_copied_in_order_with_text_and_metadata_and_new_ids_and_times(provider):
    memory = blocking(provider)
    old = [memory.add("global", "one", metadata={"n": 1}), memory.add("global", "two")]
    migrate(define(provider))
    new = list(memory.list("notes#global"))
    assert [(item.text, item.metadata) for item in new] == [("two", None), ("one", {"n": 1})]
    assert {item.id for item in new}.isdisjoint(item.id for item in old)
    assert all(item.created_at >= old[1].created_at for item in new)
    assert list(memory.list("global")) == old[::-1]


def test_the_result_lists_each_old_key_with_its_new_key_and_counts(provider):
    memory = blocking(provider)
    memory.add_many("session:s1", ["one", "two"])
    memory.add("session:s2", "three")
    memory.add("notes#session:s2", "three")
    contexts = [MemoryContext(session_id=session) for session in ("s1", "s2", "s3")]
    result = migrate(define(provider, "session"), contexts=contexts)
    assert (result.moved, result.copied) == (3, 2)
    assert [(key.old_key, key.new_key, key.moved, key.copied) for key in result.keys] == [
        ("session:s1", "notes#session:s1", 2, 2),
        ("session:s2", "notes#session:s2", 1, 0),
    ]


def test_nothing_under_the_old_key_gives_an_empty_result(provider):
    result = migrate(define(provider))
    assert (result.moved, result.copied, result.keys) == (0, 0, ())
    assert list(blocking(provider).scope_keys()) == []


def test_a_second_run_copies_nothing_and_still_tells_what_it_found(provider):
    blocking(provider).add_many("global", ["one", "two"])
    slot = define(provider)
    migrate(slot)
    before = list(blocking(provider).list("notes#global"))
    result = migrate(slot)
    assert (result.moved, result.copied) == (2, 0)
    assert list(blocking(provider).list("notes#global")) == before


def test_an_item_that_was_forgotten_after_the_copy_does_not_come_back(provider):
    memory = blocking(provider)
    memory.add_many("global", ["one", "two"])
    slot = define(provider)
    migrate(slot)
    newest = memory.list("notes#global")[0]
    memory.remove("notes#global", newest.id)
    assert migrate(slot).copied == 0
    assert texts(provider, "notes#global") == ["one"]


def test_a_cleared_memory_is_not_filled_again(provider):
    memory = blocking(provider)
    memory.add_many("global", ["one", "two"])
    slot = define(provider)
    migrate(slot)
    memory.clear("notes#global")
    assert migrate(slot).copied == 0
    assert texts(provider, "notes#global") == []
    assert list(memory.scope_keys()) == ["global"]


def test_what_is_added_under_the_old_key_later_is_copied_by_the_next_run(provider):
    memory = blocking(provider)
    memory.add("global", "one")
    slot = define(provider)
    migrate(slot)
    memory.add("global", "two")
    assert migrate(slot).copied == 1
    assert texts(provider, "notes#global") == ["two", "one"]


def test_items_that_are_there_already_keep_their_place(provider):
    memory = blocking(provider)
    memory.add_many("global", ["one", "two"])
    kept = memory.add("notes#global", "two")
    assert migrate(define(provider)).copied == 1
    assert texts(provider, "notes#global") == ["one", "two"]
    assert memory.list("notes#global")[1] == kept


def test_remove_legacy_deletes_the_old_items(provider):
    memory = blocking(provider)
    memory.add_many("global", ["one", "two"])
    result = migrate(define(provider), remove_legacy=True)
    assert (result.moved, result.copied) == (2, 2)
    assert texts(provider, "global") == []
    assert texts(provider, "notes#global") == ["two", "one"]
    assert migrate(define(provider), remove_legacy=True).keys == ()


def test_contexts_of_one_key_are_migrated_once(provider):
    blocking(provider).add("user:ada", "one")
    slot = define(provider, lambda context: context.metadata.get("user"))
    contexts = [MemoryContext(session_id=str(n), metadata={"user": "user:ada"}) for n in range(3)]
    result = migrate(slot, contexts=contexts)
    assert [(key.old_key, key.moved, key.copied) for key in result.keys] == [("user:ada", 1, 1)]


def test_a_context_in_which_the_slot_is_off_is_passed_over(provider):
    blocking(provider).add("session:s1", "one")
    slot = define(provider, "session")
    result = migrate(slot, contexts=[MemoryContext(), MemoryContext(session_id="s1")])
    assert [key.old_key for key in result.keys] == ["session:s1"]


@pytest.mark.parametrize("scope", ["session", lambda context: "user:ada"])
def test_without_contexts_only_a_global_slot_is_migrated(provider, scope):
    blocking(provider).add_many("global", ["one"])
    blocking(provider).add_many("user:ada", ["two"])
    result = migrate(define(provider, scope))
    assert (result.moved, result.copied, result.keys) == (0, 0, ())


def test_a_bad_scope_key_fails_before_anything_is_copied(provider):
    blocking(provider).add("user:ada", "one")
    slot = define(provider, lambda context: context.metadata["user"])
    contexts = [MemoryContext(metadata={"user": "user:ada"}), MemoryContext()]
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        migrate(slot, contexts=contexts)
    assert texts(provider, "notes#user:ada") == []


def test_copied_items_are_found_by_queries(provider):
    blocking(provider).add_many("global", ["likes tea", "lives in Oslo"])
    migrate(define(provider))
    found = blocking(provider).list("notes#global", query="tea")
    assert [item.text for item in found] == ["likes tea"]


def test_a_migration_into_a_full_memory_keeps_the_newest():
    provider = InMemoryMemory(max_items=3)
    memory = blocking(provider)
    memory.add_many("global", ["one", "two", "three"])
    memory.add("notes#global", "mine")
    migrate(define(provider))
    assert texts(provider, "notes#global") == ["three", "two", "one"]
