"""The short form of `python -m tests.proof steps`."""

import pytest

from tests.proof import steps


@pytest.mark.parametrize(
    ("kind", "number"),
    [("memory", 3000), ("memory-vectors", 1500), ("kv", 1500), ("file", 250), ("sqlite", 400), ("vectors", 400)],
)
def test_random_steps_through_two_objects_on_one_place_agree_with_plain_lists(kind, number, tmp_path):
    """langchain-ai/langgraph#8831, langchain-ai/langchain#8061, mnemosyne-oss/mnemosyne#110"""
    figures = steps.run(tmp_path, steps=number, kinds=[kind], seed=3)
    assert figures[kind]["steps"] == number
    assert figures[kind]["objects"] == (1 if kind.startswith("memory") else 2)
