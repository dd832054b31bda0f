"""The example and the page about LangChain and LangGraph run as they stand there."""

import pytest

from tests.extras.documentation import examples_of
from tests.extras.memories import printed_by_example
from tests.repository.test_documents import run_example


def test_the_example_remembers_waits_for_an_approval_and_stores():
    assert printed_by_example("langgraph_agent.py") == [
        "User: I am Sam, and I eat no meat.",
        "Agent: I will remember that.",
        "Bookings: []",
        "User: Book me a table for tonight.",
        "Approved: {'restaurant': 'The Green Leaf'}",
        "Agent: Your table is booked; enjoy!",
        "Bookings: ['The Green Leaf']",
    ]


@pytest.mark.parametrize("example", examples_of("langgraph.md"))
def test_an_example_of_the_page_runs_and_prints_what_stands_below_it(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_example(example)[0] == (example["output"] or "")
