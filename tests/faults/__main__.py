"""Write `docs/faults.md`: which reports of faults in other engines are held off by which test."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"
_REPORT = re.compile(r"(?:[\w.-]+/[\w.-]+)?#\d+")
_HEAD = """# Faults that others have had

Engines of this kind, and their neighbours, have had these faults. Each line is a test here, named as a sentence, with
the public reports (owner/repository#number) whose kind of fault it keeps out.

`python -m tests.faults` writes this page.
"""


def cited():
    """Yield the files of tests, and for each what its tests say and which reports they name."""
    for path in sorted(TESTS.rglob("test_*.py")):
        tests = [
            (node.name.removeprefix("test_").replace("_", " "), reports)
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef) and (reports := _REPORT.findall(ast.get_docstring(node) or ""))
        ]
        if tests:
            yield path.relative_to(TESTS.parent).as_posix(), tests


def page():
    """Return the text of the page."""
    parts = [_HEAD]
    for name, tests in cited():
        parts.append(f"\n## `{name}`\n\n")
        parts += [f"- {sentence} ({', '.join(reports)})\n" for sentence, reports in tests]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
