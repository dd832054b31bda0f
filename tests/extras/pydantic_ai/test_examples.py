"""The example and the documentation page run, and print what they say."""

import pytest

from tests.extras.documentation import examples_of
from tests.extras.memories import printed_by_example
from tests.repository.test_documents import run_example


def test_the_example_recalls_in_the_second_conversation_what_was_said_in_the_first(tmp_path):
    assert printed_by_example("pydantic_ai_agent.py", "--db", tmp_path / "agent.db") == [
        "monday",
        "  user: I am Sam, and I eat no meat.",
        "  agent: Nice to meet you, Sam. I will remember that.",
        "friday",
        "  user: What meat do I eat?",
        "  agent: None: you told me that you eat no meat.",
    ]


def test_the_page_has_examples():
    assert len(examples_of("pydantic_ai.md")) >= 4


@pytest.mark.parametrize("example", examples_of("pydantic_ai.md"))
def test_an_example_of_the_page_runs_and_prints_what_stands_below_it(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_example(example)[0] == (example["output"] or "")
