"""Arguments of tools that are no JSON, or JSON that nothing can hold: told to the model, never a crash."""

from functools import reduce

import pytest

from tests.conftest import texts_of
from vectormem import InMemoryMemory, MemoryRun, ToolInputError, blocking, define_memory

SCHEMA = {"type": "object", "properties": {"topic": {"type": "string"}, "value": {}}, "patternProperties": {"^x": {}}}
NOT_JSON = {
    "infinity": {"topic": "a", "value": float("inf")},
    "NaN": {"topic": "a", "value": [float("nan")]},
    "an object": {"topic": "a", "value": object()},
    "bytes": {"topic": b"a"},
    "a set": {"topic": "a", "value": {1}},
    "a number as a name": {"topic": "a", 1: 2},
    "a vast number": {"topic": "a", "value": 10**5000},
    "too deep": {"topic": "a", "value": reduce(lambda inner, _: [inner], range(5000), 1)},
    "infinity in JSON": '{"topic": "a", "value": 1e400}',
    "NaN in JSON": '{"topic": "a", "value": NaN}',
    "too deep in JSON": '{"topic": "a", "value": ' + "[" * 500 + "]" * 500 + "}",
    "far too deep in JSON": '{"topic": "a", "value": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.fixture
def memory():
    return InMemoryMemory()


@pytest.fixture
def run(memory):
    slots = [
        define_memory(name="plain", scope="global", provider=memory, expose={"forget": True}),
        define_memory(name="structured", scope="global", provider=memory, item_schema=SCHEMA, item_key="topic"),
    ]
    return blocking(MemoryRun(slots))


@pytest.mark.parametrize("form", NOT_JSON)
def test_no_json_is_a_tool_input_error_and_stores_nothing(run, memory, form):
    run.call("remember_structured", {"topic": "a", "value": 1})
    for tool in ("remember_structured", "remember_plain", "recall_plain", "forget_plain"):
        with pytest.raises(ToolInputError):
            run.call(tool, NOT_JSON[form])
    assert texts_of(blocking(memory).list("structured#global")) == ['{"topic":"a","value":1}']


def test_json_as_deep_as_metadata_may_be_is_stored(run, memory):
    value = reduce(lambda inner, _: [inner], range(98), 1)
    run.call("remember_structured", {"topic": "a", "value": value})
    assert blocking(memory).list("structured#global")[0].metadata == {"topic": "a", "value": value}
