"""Structured items: what a schema accepts is stored as canonical JSON."""

import json

import pytest

from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryRun,
    ToolInputError,
    blocking,
    define_memory,
)
from vectormem.testing import ScriptedEmbedder

KEY = "state#global"

BOND = {
    "type": "object",
    "properties": {
        "trust": {"type": "integer", "minimum": 0, "maximum": 10},
        "mood": {"type": "string"},
        "insideJokes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["trust", "mood"],
    "additionalProperties": False,
}


def define(schema, provider=None):
    return define_memory(name="state", scope="global", provider=provider or InMemoryMemory(), item_schema=schema)


def remember(slot, arguments):
    return blocking(MemoryRun([slot])).call("remember_state", arguments)


def stored(slot):
    return [(item.text, item.metadata) for item in blocking(slot.provider).list(KEY)]


def input_schema(slot):
    return MemoryRun([slot]).tools[0].input_schema


def test_the_text_is_canonical_json_and_the_metadata_the_object():
    slot = define(BOND)
    remember(slot, {"trust": 10, "mood": "playful", "insideJokes": []})
    assert stored(slot) == [
        (
            '{"insideJokes":[],"mood":"playful","trust":10}',
            {"trust": 10, "mood": "playful", "insideJokes": []},
        )
    ]


def test_keys_are_sorted_by_code_point_at_every_level_and_text_is_kept():
    slot = define({"type": "object"})
    remember(slot, {"alpha": 1, "Zed": {"b": [2, {"y": None, "x": True}], "a": '日本 ü " \\'}, "é": 0.5})
    assert stored(slot)[0][0] == ('{"Zed":{"a":"日本 ü \\" \\\\","b":[2,{"x":true,"y":null}]},"alpha":1,"é":0.5}')


def test_a_float_stays_a_float():
    slot = define({"type": "object"})
    remember(slot, {"a": 1.0, "b": 1})
    assert stored(slot)[0][0] == '{"a":1.0,"b":1}'


def test_equal_objects_are_one_item_whatever_the_order_of_their_keys():
    slot = define(BOND)
    first = remember(slot, {"trust": 1, "mood": "calm"})
    assert remember(slot, '{"mood": "calm", "trust": 1}') == first
    assert len(stored(slot)) == 1


def test_recall_returns_the_text_and_no_metadata():
    slot = define(BOND, InMemoryVectorMemory(embedder=ScriptedEmbedder()))
    remember(slot, {"trust": 1, "mood": "calm"})
    run = blocking(MemoryRun([slot]))
    text = '{"mood":"calm","trust":1}'
    assert [sorted(item) for item in run.call("recall_state", {})["items"]] == [["createdAt", "id", "text"]]
    shown = run.call("recall_state", {"query": text})["items"][0]
    assert (sorted(shown), shown["text"]) == (["createdAt", "id", "score", "text"], text)
    assert run.block() == f'<memory name="state">\n- {text}\n</memory>'


def test_a_json_schema_is_the_input_schema_of_remember():
    assert input_schema(define(BOND)) == BOND


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"trust": 1},
        {"trust": 11, "mood": "calm"},
        {"trust": "1", "mood": "calm"},
        {"trust": 1, "mood": "calm", "more": 1},
        {"trust": 1, "mood": None},
        [],
        "not json",
        '{"trust": NaN, "mood": "calm"}',
    ],
)
def test_what_does_not_match_is_not_stored(arguments):
    slot = define(BOND)
    with pytest.raises(ToolInputError):
        remember(slot, arguments)
    assert stored(slot) == []


def test_the_reason_names_the_field():
    with pytest.raises(ToolInputError, match="trust"):
        remember(define(BOND), {"trust": 11, "mood": "calm"})


def test_a_schema_may_be_changed_after_the_definition_without_effect():
    schema = json.loads(json.dumps(BOND))
    slot = define(schema)
    schema["properties"].clear()
    input_schema(slot)["properties"].clear()
    assert input_schema(slot) == BOND


def test_structured_items_are_embedded_as_their_text():
    embedder = ScriptedEmbedder()
    slot = define(BOND, InMemoryVectorMemory(embedder=embedder))
    remember(slot, {"trust": 1, "mood": "calm"})
    assert embedder.calls == [(['{"mood":"calm","trust":1}'], "document")]


@pytest.mark.parametrize("value", ["a\0b", "\ud83d"])
def test_text_that_cannot_be_stored_is_refused_in_a_field_too(value):
    slot = define({"type": "object"})
    with pytest.raises(ValueError, match=r"text|metadata|JSON"):
        remember(slot, {"a": value})
    assert stored(slot) == []
