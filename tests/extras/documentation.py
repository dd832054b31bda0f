"""Examples of the documentation that need an extra, run where it is installed."""

import pytest

from tests.repository.sources import ROOT
from tests.repository.test_documents import BLOCK, run_example


def examples_of(page: str) -> list:
    """Return the examples of a page as parameters of a test, named by their lines."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return [pytest.param(one, id=str(text[: one.start("code")].count("\n"))) for one in BLOCK.finditer(text)]


def run_examples(page: str) -> list[tuple[str, str | None, dict]]:
    """Run the examples of a page one by one; return for each what it printed and should have, and its names."""
    results = []
    for [example] in (parameter.values for parameter in examples_of(page)):
        printed, names = run_example(example)
        results.append((printed, example["output"], names))
    return results
