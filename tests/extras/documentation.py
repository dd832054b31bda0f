"""Examples of the documentation that need an extra, run where it is installed."""

import contextlib
import io

from tests.repository.sources import ROOT
from tests.repository.test_documents import BLOCK


def run_examples(page: str) -> list[tuple[str, str | None, dict]]:
    """Run the examples of a page one by one; return for each what it printed and should have, and its names."""
    results = []
    for example in BLOCK.finditer((ROOT / "docs" / page).read_text("utf-8")):
        printed, names = io.StringIO(), {"__name__": "__main__"}
        with contextlib.redirect_stdout(printed):
            exec(compile(example["code"], page, "exec"), names)
        results.append((printed.getvalue(), example["output"], names))
    return results
