"""The documentation: its examples run, its links lead somewhere, its version is the version."""

import contextlib
import io
import re
import tomllib

import pytest

from tests.repository.sources import ROOT, files, short

PAGES = [path for path in files(".md") if path.parent in (ROOT, ROOT / "docs")]
BLOCK = re.compile(
    r"(?P<before><!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^```python\n(?P<code>.*?)^```\n"
    r"(?:\n*^```\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
EXAMPLES = [
    pytest.param(match, id=f"{short(page)}:{text[: match.start('code')].count(chr(10))}")
    for page in PAGES
    for text in [page.read_text("utf-8")]
    for match in BLOCK.finditer(text)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_prints_what_stands_below_it(example, tmp_path, monkeypatch):
    if example["reason"]:
        pytest.skip(example["reason"])
    monkeypatch.chdir(tmp_path)
    printed, _ = run_example(example)
    if example["output"] is not None:
        assert printed == example["output"]


def run_example(example):
    """Run an example; return what it printed, and its names."""
    printed, names = io.StringIO(), {"__name__": "__main__"}
    with contextlib.redirect_stdout(printed):
        exec(compile(example["code"], "an example of the documentation", "exec"), names)
    return printed.getvalue(), names


def test_the_readme_has_examples():
    assert sum("README" in example.id for example in EXAMPLES) >= 2


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_a_link_to_a_file_leads_to_a_file(page):
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_newest_version_of_the_changelog_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert versions[0] == project["version"]
    assert versions == sorted(versions, key=lambda version: [-int(part) for part in version.split(".")])


def test_the_extra_of_everything_names_every_other_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = [name for line in extras["all"] for name in re.fullmatch(r"vectormem\[(.+)\]", line)[1].split(",")]
    assert sorted(named) == sorted(set(extras) - {"all"})
