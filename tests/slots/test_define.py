"""Defining a slot: defaults, and what is refused."""

import dataclasses

import pytest
from pydantic import BaseModel, ValidationError

from vectormem import (
    Expose,
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryInvalidError,
    MemoryRun,
    Recall,
    define_memory,
)
from vectormem.testing import HashEmbedder


class Preference(BaseModel):
    topic: str
    value: str


def define(**options):
    return define_memory(**{"name": "notes", "scope": "global", "provider": InMemoryMemory(), **options})


def tool_names(*slots):
    return [tool.name for tool in MemoryRun(slots).tools]


def test_a_slot_carries_what_it_was_defined_with():
    provider = InMemoryMemory()
    slot = define_memory(
        name="preferences",
        scope="session",
        provider=provider,
        description="What the user likes.",
        recall=Recall(on_session_start=False, max_items=3, query="last-input", max_chars=500),
        expose=Expose(remember=False, recall=False, forget=True),
    )
    assert (slot.name, slot.scope, slot.provider) == ("preferences", "session", provider)
    assert slot.description == "What the user likes."
    assert slot.recall.model_dump() == {
        "on_session_start": False,
        "max_items": 3,
        "query": "last-input",
        "max_chars": 500,
    }
    assert slot.expose.model_dump() == {"remember": False, "recall": False, "forget": True}


def test_what_is_left_out_has_its_default():
    slot = define()
    assert (slot.description, slot.item_schema, slot.item_key) == (None, None, ())
    assert slot.recall.model_dump() == {"on_session_start": True, "max_items": 10, "query": "none", "max_chars": None}
    assert slot.expose.model_dump() == {"remember": True, "recall": True, "forget": False}


def test_recall_and_expose_may_be_plain_mappings():
    slot = define(recall={"query": "last-input"}, expose={"forget": True})
    assert slot.recall == Recall(query="last-input")
    assert slot.expose == Expose(forget=True)


@pytest.mark.parametrize("missing", ["name", "scope", "provider"])
def test_name_scope_and_provider_are_required(missing):
    options = {"name": "notes", "scope": "global", "provider": InMemoryMemory()}
    del options[missing]
    with pytest.raises(TypeError, match=missing):
        define_memory(**options)


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 55, "-", "_", "0"])
def test_a_name_of_1_to_55_letters_digits_dashes_and_underscores_is_accepted(name):
    assert define(name=name).name == name


def test_the_longest_name_gives_tool_names_of_at_most_64_characters():
    names = tool_names(define(name="x" * 55, expose={"forget": True}))
    assert max(map(len, names)) == 64


@pytest.mark.parametrize(
    "name",
    ["", "x" * 56, "my notes", "my.notes", "notes#1", "naïve", "notes\n", "a/b", "٣", None, 7, b"notes"],
)
def test_any_other_name_is_refused(name):
    with pytest.raises(MemoryInvalidError, match="name"):
        define(name=name)


@pytest.mark.parametrize("scope", ["user", "Global", "", None, 7, ["global"], {}])
def test_a_scope_that_is_neither_global_nor_session_nor_a_function_is_refused(scope):
    with pytest.raises(MemoryInvalidError, match="scope"):
        define(scope=scope)


def test_a_provider_needs_list_add_and_remove():
    class WithoutRemove:
        async def list(self, scope_key, *, limit=None, query=None): ...
        async def add(self, scope_key, text, *, metadata=None): ...

    for provider in (None, object(), WithoutRemove(), InMemoryMemory, {}):
        with pytest.raises(MemoryInvalidError, match="list, add and remove"):
            define(provider=provider)


@pytest.mark.parametrize(
    "recall",
    [
        {"max_items": 0},
        {"max_items": -1},
        {"max_items": True},
        {"max_items": 2.5},
        {"max_items": None},
        {"query": "last_input"},
        {"query": None},
        {"on_session_start": 1},
        {"max_chars": 0},
        {"limit": 5},
        5,
        None,
        "none",
    ],
)
def test_recall_options_that_are_not_valid_are_refused(recall):
    with pytest.raises(MemoryInvalidError, match="recall of memory 'notes'"):
        define(recall=recall)


@pytest.mark.parametrize("expose", [{"forget": "yes"}, {"remember": None}, {"delete": True}, True, None])
def test_expose_options_that_are_not_valid_are_refused(expose):
    with pytest.raises(MemoryInvalidError, match="expose of memory 'notes'"):
        define(expose=expose)


@pytest.mark.parametrize("description", [7, ["text"], b"text"])
def test_a_description_that_is_no_text_is_refused(description):
    with pytest.raises(MemoryInvalidError, match="description"):
        define(description=description)


def test_a_budget_too_small_for_one_item_is_refused():
    with pytest.raises(MemoryInvalidError, match="max_chars"):
        define(recall={"max_chars": 40})


@pytest.mark.parametrize("schema", [7, "text", str, Preference(topic="a", value="b"), object(), {}, {"type": "array"}])
def test_an_item_schema_that_describes_no_object_is_refused(schema):
    with pytest.raises(MemoryInvalidError, match="item_schema"):
        define(item_schema=schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": 7},
        {"type": "object", "required": "topic"},
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}, "default": {1, 2}},
    ],
)
def test_an_invalid_json_schema_is_refused(schema):
    with pytest.raises(MemoryInvalidError, match="item_schema"):
        define(item_schema=schema)


def test_item_key_is_one_field_or_several():
    assert define(item_schema=Preference, item_key="topic").item_key == ("topic",)
    assert define(item_schema=Preference, item_key=["topic", "value"]).item_key == ("topic", "value")


def test_item_key_without_item_schema_is_refused():
    with pytest.raises(MemoryInvalidError, match="item_schema"):
        define(item_key="topic")


@pytest.mark.parametrize("item_key", ["", [], [""], ["topic", ""], ["topic", 7], 7, {"topic": 1}])
def test_an_item_key_without_field_names_is_refused(item_key):
    with pytest.raises(MemoryInvalidError, match="item_key"):
        define(item_schema=Preference, item_key=item_key)


def test_an_item_key_that_the_schema_does_not_have_is_refused():
    with pytest.raises(MemoryInvalidError, match=r"'subject'.*\['topic', 'value'\]"):
        define(item_schema=Preference, item_key="subject")


def test_a_slot_cannot_be_changed():
    slot = define()
    with pytest.raises(dataclasses.FrozenInstanceError):
        slot.name = "other"
    with pytest.raises(ValidationError, match="frozen"):
        slot.recall.max_items = 20
    with pytest.raises(ValidationError, match="frozen"):
        slot.expose.forget = True


def test_slots_can_be_members_of_sets():
    one, two = define(), define()
    assert len({one, two, one}) == 2


def test_slots_of_one_run_need_names_of_their_own():
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        MemoryRun([define(), define(scope="session")])


def test_a_run_takes_slots_only():
    with pytest.raises(MemoryInvalidError, match="define_memory"):
        MemoryRun(["notes"])


def test_slots_of_one_run_keep_their_own_provider_scope_and_settings():
    words = define(name="facts", expose={"recall": False})
    meaning = define(
        name="past",
        provider=InMemoryVectorMemory(embedder=HashEmbedder()),
        scope=lambda context: "user:1",
        expose={"forget": True},
    )
    assert tool_names(words, meaning) == ["remember_facts", "remember_past", "recall_past", "forget_past"]
