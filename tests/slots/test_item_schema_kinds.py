"""Every kind of schema: pydantic models, dataclasses, TypedDicts and JSON Schema."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, NotRequired, Required, TypedDict

import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, field_validator

from vectormem import (
    InMemoryMemory,
    MemoryInvalidError,
    MemoryRun,
    ToolInputError,
    blocking,
    define_memory,
)

KEY = "state#global"


class Mood(StrEnum):
    CALM = "calm"
    TENSE = "tense"


class BondModel(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    trust: int = Field(ge=0, le=10)
    mood: Mood = Mood.CALM
    inside_jokes: list[str] = Field(default_factory=list, alias="insideJokes")
    since: date | None = None


@dataclass
class BondDataclass:
    trust: int
    mood: Literal["calm", "tense"] = "calm"
    jokes: list[str] = field(default_factory=list)


class BondDict(TypedDict):
    trust: int
    mood: NotRequired[str]


def define(schema, provider=None):
    return define_memory(name="state", scope="global", provider=provider or InMemoryMemory(), item_schema=schema)


def remember(slot, arguments):
    return blocking(MemoryRun([slot])).call("remember_state", arguments)


def stored(slot):
    return [(item.text, item.metadata) for item in blocking(slot.provider).list(KEY)]


def input_schema(slot):
    return MemoryRun([slot]).tools[0].input_schema


def test_a_pydantic_model_is_stored_in_json_form_under_its_aliases():
    slot = define(BondModel)
    remember(slot, {"trust": 3, "insideJokes": ["the goose"], "since": "2026-02-28"})
    assert stored(slot) == [
        (
            '{"insideJokes":["the goose"],"mood":"calm","since":"2026-02-28","trust":3}',
            {"trust": 3, "mood": "calm", "insideJokes": ["the goose"], "since": "2026-02-28"},
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({}, "trust"),
        ({"trust": 11}, "trust"),
        ({"trust": "many"}, "trust"),
        ({"trust": 1, "mood": "furious"}, "mood"),
        ({"trust": 1, "since": "soon"}, "since"),
    ],
)
def test_what_does_not_match_a_pydantic_model_is_not_stored_and_the_reason_names_the_field(arguments, wrong):
    slot = define(BondModel)
    with pytest.raises(ToolInputError, match=wrong):
        remember(slot, arguments)
    assert stored(slot) == []


def test_the_input_schema_of_a_pydantic_model_has_its_aliases():
    schema = input_schema(define(BondModel))
    assert sorted(schema["properties"]) == ["insideJokes", "mood", "since", "trust"]
    assert schema["required"] == ["trust"]


def test_validators_of_a_model_run():
    class Shouted(BaseModel):
        word: str

        @field_validator("word")
        @classmethod
        def shout(cls, word):
            return word.upper()

    slot = define(Shouted)
    remember(slot, {"word": "tea"})
    assert stored(slot) == [('{"word":"TEA"}', {"word": "TEA"})]


def test_a_dataclass_is_a_schema():
    slot = define(BondDataclass)
    remember(slot, {"trust": 3})
    assert stored(slot) == [('{"jokes":[],"mood":"calm","trust":3}', {"trust": 3, "mood": "calm", "jokes": []})]
    with pytest.raises(ToolInputError, match="mood"):
        remember(slot, {"trust": 3, "mood": "furious"})


def test_a_typed_dict_is_a_schema():
    slot = define(BondDict)
    remember(slot, {"trust": 3})
    assert stored(slot) == [('{"trust":3}', {"trust": 3})]
    with pytest.raises(ToolInputError, match="trust"):
        remember(slot, {"mood": "calm"})


class Person(TypedDict):
    name: Required[str]
    bonds: NotRequired[list[BondDict]]
    best: BondDict | None
    age: Annotated[int, Field(ge=0)]


class Colleague(Person, total=False):
    desks: dict[str, tuple[int, Literal["left", "right"]]]


class ExtendedDict(typing_extensions.TypedDict):
    trust: int


def test_typed_dicts_may_hold_and_extend_others():
    slot = define(Colleague)
    given = {
        "name": "Ada",
        "bonds": [{"trust": 1}, {"trust": 2, "mood": "calm"}],
        "best": None,
        "age": 36,
        "desks": {"a": [1, "left"]},
    }
    remember(slot, given)
    assert stored(slot)[0][1] == given
    assert sorted(input_schema(slot)["required"]) == ["age", "best", "name"]
    for wrong in ({"age": -1}, {"bonds": [{}]}, {"desks": {"a": [1, "top"]}}, {"best": {"mood": "calm"}}):
        with pytest.raises(ToolInputError, match=next(iter(wrong))):
            remember(slot, {**given, **wrong})


class StrictDict(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")
    trust: int


def test_the_configuration_of_a_typed_dict_is_kept():
    with pytest.raises(ToolInputError, match="more"):
        remember(define(StrictDict), {"trust": 1, "more": 2})


class UnreadableDict(TypedDict):
    trust: "NoSuchType"  # noqa: F821  # what the test is about


def test_a_typed_dict_whose_types_cannot_be_read_is_refused():
    with pytest.raises(MemoryInvalidError, match="UnreadableDict"):
        define(UnreadableDict)


def test_a_typed_dict_of_typing_extensions_is_a_schema():
    slot = define(ExtendedDict)
    remember(slot, {"trust": 3})
    assert stored(slot) == [('{"trust":3}', {"trust": 3})]


def test_a_schema_of_an_older_draft_follows_its_own_rules():
    draft4 = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"n": {"type": "number", "minimum": 3, "exclusiveMinimum": True}},
    }
    slot = define(draft4)
    with pytest.raises(ToolInputError, match="n"):
        remember(slot, {"n": 3})
    remember(slot, {"n": 4})
    assert stored(slot) == [('{"n":4}', {"n": 4})]


def test_a_reference_inside_the_schema_is_followed():
    slot = define(
        {
            "type": "object",
            "properties": {"mood": {"$ref": "#/$defs/mood"}},
            "$defs": {"mood": {"enum": ["calm", "tense"]}},
        }
    )
    remember(slot, {"mood": "calm"})
    with pytest.raises(ToolInputError, match="mood"):
        remember(slot, {"mood": "furious"})


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/schema.json", "https://example.com/s.json", "file:///etc/passwd"])
def test_a_reference_to_another_document_is_never_fetched(monkeypatch, url):
    def refuse(*args, **kwargs):
        raise AssertionError("the network or a file was read")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.setattr("socket.create_connection", refuse)
    with pytest.raises(MemoryInvalidError, match="refers to"):
        remember(define({"type": "object", "properties": {"a": {"$ref": url}}}), {"a": 1})


def test_a_model_whose_items_are_no_objects_is_refused():
    class Number(BaseModel):
        model_config = ConfigDict(json_schema_extra={"type": "integer"})

    with pytest.raises(MemoryInvalidError, match="object"):
        define(Number)


def test_a_model_without_a_json_schema_is_refused():
    class Anything:
        pass

    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: Anything

    with pytest.raises(MemoryInvalidError, match="Holder"):
        define(Holder)
