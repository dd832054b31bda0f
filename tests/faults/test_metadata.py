"""Faults of metadata: numbers that change, values that no file holds, an order that depends on the store."""

from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

import numpy as np
import pytest

from tests.conftest import texts_of
from vectormem import MemoryInvalidError, blocking


@pytest.mark.parametrize(
    "number",
    [9, 10, 0, -1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**200, 0.1, 1.0, -0.0, 5e-324, 1.7976931348623157e308],
    ids=repr,
)
def test_a_number_comes_back_as_it_was(every_place, number):
    """langchain-ai/langgraph#7684"""
    memory = blocking(every_place.open())
    memory.add("k", "tea", metadata={"n": number, "in": [{"n": number}]})
    for item in (memory.list("k")[0], memory.list("k", query="tea")[0]):
        assert repr(item.metadata["n"]) == repr(number)
        assert repr(item.metadata["in"]) == repr([{"n": number}])


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"": ""},
        {"a": None, "b": [None], "c": {"d": None}},
        {"true": True, "false": False},
        {"text": 'it\'s "quoted" \\ / \n\t\u2028 \U0001f600 é e\u0301'},
        {"a.b": 1, "$": 2, "'": 3, '"': 4, "x') = 1 OR 1=1 --": 5},
        {"score": 0.3, "id": "mine", "created_at": "then"},
        {"version": 999, "items": [], "key": "other"},
        {"deep": [[[[[[1]]]]]]},
    ],
    ids=lambda metadata: repr(metadata)[:30],
)
def test_metadata_comes_back_as_it_was(every_place, metadata):
    """oceanbase/powercontext#898, langchain-ai/langchain#8061"""
    memory = blocking(every_place.open())
    memory.add("k", "tea", metadata=metadata)
    assert memory.list("k")[0].metadata == metadata
    assert list(memory.list("k")[0].metadata) == list(metadata)
    (found,) = memory.list("k", query="tea")
    assert (found.own_metadata() or {}) == metadata


@pytest.mark.parametrize("metadata", [MappingProxyType({"a": 1}), OrderedDict(a=1), {"a": 1}, {"a": True}])
def test_every_kind_of_mapping_is_taken(every_place, metadata):
    memory = blocking(every_place.open())
    memory.add("k", "tea", metadata=metadata)
    assert memory.list("k")[0].metadata == {"a": metadata["a"]}


class Opaque:
    """Nothing that JSON knows."""


NOT_JSON = {
    "datetime": {"t": datetime(2026, 1, 1, tzinfo=UTC)},
    "decimal": {"d": Decimal("1.10")},
    "numpy int": {"n": np.int64(3)},
    "numpy array": {"n": np.ones(2)},
    "set": {"s": {1}},
    "bytes": {"b": b"x"},
    "uuid": {"u": UUID(int=1)},
    "path": {"p": Path("x")},
    "object": {"o": Opaque()},
    "int key": {1: "a"},
    "bool key": {True: "a"},
    "None key": {None: "a"},
    "tuple key": {("a",): 1},
    "nested int key": {"a": [{1: "b"}]},
    "NaN": {"n": float("nan")},
    "infinity": {"n": [float("-inf")]},
    "NUL": {"a": "b\x00"},
    "NUL in a key": {"a\x00": 1},
    "surrogate": {"a": ["\ud83d"]},
    "surrogate in a key": {"\ud83d": 1},
    "too deep": {"a": reduce(lambda inner, _: [inner], range(200), 1)},
    "a huge int": {"n": 10**5000},
    "a list": ["a"],
    "a string": "a",
    "a number": 3,
}


@pytest.mark.parametrize("form", NOT_JSON)
def test_what_is_no_json_is_refused_before_anything_is_written(every_place, form):
    """vectorize-io/hindsight#272, chroma-core/chroma#1800, pastas/pastastore#52"""
    memory = blocking(every_place.open())
    kept = memory.add_many("k", ["one", "two", "three"], metadata={"a": 1})
    for verb in (
        lambda: memory.add("k", "four", metadata=NOT_JSON[form]),
        lambda: memory.upsert("k", "four", id=kept[0].id, metadata=NOT_JSON[form]),
        lambda: memory.add_many("k", ["four", "five"], metadata=[{"good": 1}, NOT_JSON[form]]),
    ):
        with pytest.raises(MemoryInvalidError):
            verb()
    assert memory.list("k") == kept[::-1]


def test_a_mapping_that_contains_itself_is_refused(every_place):
    circle = {}
    circle["a"] = [circle]
    with pytest.raises(MemoryInvalidError):
        blocking(every_place.open()).add("k", "tea", metadata=circle)


def test_a_refused_value_leaves_the_file_as_it_was(tmp_path, every_lasting_place):
    """pastas/pastastore#52"""
    memory = blocking(every_lasting_place.open())
    memory.add_many("k", ["one", "two", "three"])

    def state():
        return {
            path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
        } | every_lasting_place.kv.values

    before = state()
    with pytest.raises(MemoryInvalidError):
        memory.add("k", "four", metadata=NOT_JSON["object"])
    assert state() == before


def test_the_order_is_the_same_in_every_store(every_place):
    """langchain-ai/langgraph#8831"""
    memory = blocking(every_place.open())
    first, _, _ = memory.add_many("k", ["a", "b", "c"])
    assert texts_of(memory.list("k")) == ["c", "b", "a"]
    memory.upsert("k", "a", id=first.id, metadata={"changed": True})
    assert texts_of(memory.list("k")) == ["a", "c", "b"]
    memory.add("k", "b")
    assert texts_of(memory.list("k")) == ["a", "c", "b"]


def test_adding_a_stored_text_changes_neither_its_metadata_nor_its_place(every_place):
    memory = blocking(every_place.open())
    first, _ = memory.add_many("k", ["a", "b"], metadata={"n": 1})
    assert memory.add("k", "a", metadata={"n": 2}) == first
    assert texts_of(memory.list("k")) == ["b", "a"]
    assert memory.list("k")[1].metadata == {"n": 1}
