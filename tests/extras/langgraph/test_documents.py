"""The example and the page about LangChain and LangGraph run as they stand there."""

import contextlib
import io
import subprocess
import sys

import pytest

from tests.repository.sources import ROOT
from tests.repository.test_documents import BLOCK

PAGE = (ROOT / "docs" / "langgraph.md").read_text("utf-8")


def test_the_example_remembers_waits_for_an_approval_and_stores():
    program = ROOT / "examples" / "langgraph_agent.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "User: I am Sam, and I eat no meat.",
        "Agent: I will remember that.",
        "Bookings: []",
        "User: Book me a table for tonight.",
        "Approved: {'restaurant': 'The Green Leaf'}",
        "Agent: Your table is booked; enjoy!",
        "Bookings: ['The Green Leaf']",
    ]


@pytest.mark.parametrize("block", [*BLOCK.finditer(PAGE)], ids=lambda block: PAGE[: block.start("code")].count("\n"))
def test_an_example_of_the_page_runs_and_prints_what_stands_below_it(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block["code"], "an example of the page", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == (block["output"] or "")
