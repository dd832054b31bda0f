"""The example and the documentation page run, and print what they say."""

import contextlib
import io
import subprocess
import sys

import pytest

from tests.repository.sources import ROOT
from tests.repository.test_documents import BLOCK

PAGE = (ROOT / "docs" / "pydantic_ai.md").read_text("utf-8")
EXAMPLES = list(BLOCK.finditer(PAGE))


def test_the_example_recalls_in_the_second_conversation_what_was_said_in_the_first(tmp_path):
    program = [sys.executable, ROOT / "examples" / "pydantic_ai_agent.py", "--db", tmp_path / "agent.db"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "monday",
        "  user: I am Sam, and I eat no meat.",
        "  agent: Nice to meet you, Sam. I will remember that.",
        "friday",
        "  user: What meat do I eat?",
        "  agent: None: you told me that you eat no meat.",
    ]


def test_the_page_has_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("position", range(len(EXAMPLES)))
def test_an_example_of_the_page_runs_and_prints_what_stands_below_it(position, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(EXAMPLES[position]["code"], "docs/pydantic_ai.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == EXAMPLES[position]["output"]
