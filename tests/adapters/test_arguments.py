"""The arguments of a memory tool as a pydantic model."""

import pytest

from vectormem import InMemoryMemory, MemoryRun, define_memory
from vectormem.adapters.arguments import arguments_model

SCHEMA = {
    "type": "object",
    "properties": {"topic": {"$ref": "#/$defs/topic"}, "copy": {"type": "string"}},
    "required": ["topic"],
    "$defs": {"topic": {"enum": ["tea", "milk"]}},
}


def tool():
    slot = define_memory(name="facts", scope="global", provider=InMemoryMemory(), item_schema=SCHEMA)
    return MemoryRun([slot]).tools[0]


def test_the_schema_is_that_of_the_tool():
    assert arguments_model(tool()).model_json_schema() == tool().input_schema


def test_changing_the_schema_changes_no_tool():
    made = tool()
    arguments_model(made).model_json_schema()["properties"].clear()
    assert arguments_model(made).model_json_schema() == tool().input_schema


@pytest.mark.parametrize(
    "arguments", [{}, {"topic": 5}, {"other": None}, {"copy": "x", "model_config": {}, "self": 1, "_private": 2}]
)
def test_every_argument_passes_as_it_is_since_the_tool_checks_it(arguments):
    assert arguments_model(tool()).model_validate(arguments).model_dump(exclude_unset=True) == arguments
