"""Filters over JSON objects, as data."""

import json

import pytest

from vectormem import MemoryInvalidError
from vectormem.ranking.filters import compile_filter

ITEM = {
    "color": "red",
    "n": 9,
    "big": 9007199254740993,
    "price": 4.5,
    "sold": True,
    "none": None,
    "tags": ["a", "b"],
    "address": {"city": "Oslo", "no": 3},
    "x') = 1 OR 1=1 --": 1,
    "a.b": "dot",
}


@pytest.mark.parametrize(
    "filter",
    [
        None,
        {},
        {"color": "red"},
        {"color": "red", "n": 9},
        {"n": {"$gte": 9, "$lt": 10}},
        {"n": {"$gt": 8.5}},
        {"n": 9.0},
        {"price": {"$lte": 4.5}},
        {"color": {"$gt": "blue"}},
        {"color": {"$ne": "blue"}},
        {"absent": {"$ne": "blue"}},
        {"absent": None},
        {"none": None},
        {"color": {"$in": ["blue", "red"]}},
        {"color": {"$nin": ["blue"]}},
        {"tags": ["a", "b"]},
        {"tags": ["a", {"$ne": "a"}]},
        {"address": {"city": "Oslo"}},
        {"address": {"no": {"$lt": 4}}},
        {"address": {"$eq": {"no": 3, "city": "Oslo"}}},
        {"big": 9007199254740993},
        {"sold": True},
        {"x') = 1 OR 1=1 --": 1},
        {"a.b": "dot"},
    ],
    ids=json.dumps,
)
def test_an_object_is_admitted_by(filter):
    assert compile_filter(filter)(ITEM)


@pytest.mark.parametrize(
    "filter",
    [
        {"color": "blue"},
        {"color": "red", "n": 8},
        {"n": {"$gt": 9}},
        {"n": {"$gt": "8"}},
        {"n": "9"},
        {"color": {"$lt": 5}},
        {"sold": 1},
        {"sold": {"$gt": 0}},
        {"n": {"$gt": True}},
        {"none": {"$gte": 0}},
        {"absent": {"$lt": 5}},
        {"absent": 1},
        {"tags": ["b", "a"]},
        {"tags": ["a"]},
        {"tags": "a"},
        {"address": {"city": "Bergen"}},
        {"address": {"$eq": {"city": "Oslo"}}},
        {"address": "Oslo"},
        {"color": {"city": "Oslo"}},
        {"big": 9007199254740992},
        {"color": {"$in": []}},
        {"y') = 1 OR 1=1 --": 1},
        {"a": {"b": "dot"}},
    ],
    ids=json.dumps,
)
def test_an_object_is_not_admitted_by(filter):
    assert not compile_filter(filter)(ITEM)


@pytest.mark.parametrize(
    "filter",
    [
        {"$xor": []},
        {"n": {"$xor": 1}},
        {"n": {"$gt": 1, "max": 2}},
        {"n": {"$in": "abc"}},
        {"n": {"$gt": {"$lt": 1}}},
        {"address": {"no": {"$near": 1}}},
        {"tags": [{"$xor": 1}]},
        {"n": {1: 2}},
    ],
    ids=str,
)
def test_an_operator_that_is_not_known_is_an_error_before_anything_is_compared(filter):
    """langchain-ai/langgraph#8829, langchain-ai/langgraph#8759"""
    with pytest.raises(MemoryInvalidError, match=r"filter"):
        compile_filter(filter)


def test_a_filter_that_is_changed_afterwards_stays_as_it_was():
    given = {"color": "red"}
    admits = compile_filter(given)
    given["color"] = "blue"
    assert admits(ITEM)
