import random

import pytest

from tests.cli.conftest import KEY, texts


def words_of(random_source):
    return " ".join(random_source.choice(("tea", "oolong", "Oslo", "cello", "naïve", "藍")) for _ in range(12))


def test_thousands_of_paragraphs_become_items_in_the_order_of_the_file(run, run_json, memory, folder):
    random_source = random.Random(7)
    paragraphs = [f"{number}: {words_of(random_source)}\n{words_of(random_source)}" for number in range(2345)]
    (folder / "notes.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
    assert run_json("import", "notes.txt") == {
        "read": 2345,
        "imported": 2345,
        "already_there": 0,
        "files": [{"file": "notes.txt", "format": "text", "read": 2345, "imported": 2345}],
    }
    assert texts(memory().list(KEY)) == paragraphs[::-1]
    assert run("import", "notes.txt").stdout == "notes.txt: 0 items imported, 2345 already there\n"
    assert run_json("keys") == {"keys": [{"key": KEY, "items": 2345}]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("one\n\ntwo", ["one", "two"]),
        ("\n \n\none\n\t\n\n\ntwo\n\n", ["one", "two"]),
        ("one  \nmore\r\n\r\ntwo\r\n", ["one\nmore", "two"]),
        ("\ufeffone\n\ntwo", ["one", "two"]),
        ("one\n\none\n\ntwo", ["one", "two"]),
        ("# one\n\n- two\n- three", ["# one", "- two\n- three"]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_blank_lines_separate_the_paragraphs_of_a_text(run, memory, folder, content, expected):
    (folder / "notes.txt").write_bytes(content.encode())
    assert run("import", "notes.txt").exit_code == 0
    assert texts(memory().list(KEY))[::-1] == expected


def test_markdown_headings_go_into_the_metadata_of_the_items_below(run, memory, folder):
    (folder / "notes.md").write_text(
        "Before.\n\n# Food #\nSam is\nvegetarian.\n\n- tofu\n- rice\n\n---\n\n"
        "Places and\npeople\n==========\n\nOslo.\n\n#5 is no heading\n"
    )
    run("import", "notes.md")
    assert [(item.text, item.metadata) for item in reversed(memory().list(KEY))] == [
        ("Before.", None),
        ("Sam is\nvegetarian.", {"heading": "Food"}),
        ("- tofu\n- rice", {"heading": "Food"}),
        ("Oslo.", {"heading": "Places and people"}),
        ("#5 is no heading", {"heading": "Places and people"}),
    ]


def test_fenced_code_stays_whole(run, memory, folder):
    code = "Run:\n```python\n# no heading\n\nx = 1\n~~~\n\n---\n```\nand see."
    unclosed = "~~~~\na\n\n~~~\nb"
    (folder / "notes.markdown").write_text(f"{code}\n\nMore.\n\n{unclosed}\n")
    run("import", "notes.markdown")
    assert texts(reversed(memory().list(KEY))) == [code, "More.", unclosed]


def test_the_format_option_overrides_the_suffix(run, memory, folder):
    (folder / "notes.md").write_text("# Tea\n\nGreen.")
    run("import", "notes.md", "--format", "text")
    assert texts(memory().list(KEY)) == ["Green.", "# Tea"]
    (folder / "data.txt").write_text('{"text": "one"}\n{"text": "two"}')
    run("import", "data.txt", "--format", "jsonl", "--key", "b#y")
    assert texts(memory().list("b#y")) == ["two", "one"]
    assert run("import", "notes.md", "--format", "word").exit_code == 2


def test_without_a_known_suffix_the_first_line_tells_the_format(run_json, folder):
    (folder / "backup").write_text('\ufeff{"text": "one"}\n', encoding="utf-8")
    (folder / "notes.rst").write_text("one\n\ntwo")
    files = run_json("import", "backup", "notes.rst", "-", input="three\n\nfour\n\nfive")["files"]
    assert [(one["file"], one["format"], one["read"]) for one in files] == [
        ("backup", "jsonl", 1),
        ("notes.rst", "text", 2),
        ("standard input", "text", 3),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"one\n\ntwo\nthr\xff\n\nfour", "line 4: not UTF-8: byte 0xff at position 4; save it as UTF-8"),
        (b"one\n\nt\0wo\nthree", "line 3: the text of an item contains a NUL character (U+0000); remove it"),
    ],
)
def test_bytes_that_are_no_text_are_named_and_what_stands_before_is_stored(run, memory, folder, content, message):
    (folder / "notes.txt").write_bytes(content)
    result = run("import", "notes.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: notes.txt, {message}; 1 item before it stored")
    assert texts(memory().list(KEY)) == ["one"]


def test_utf_16_is_named_as_what_it_is(run, folder):
    (folder / "notes.txt").write_text("tea", encoding="utf-16")
    result = run("import", "notes.txt")
    assert result.exit_code == 1
    assert "notes.txt, line 1: not UTF-8" in result.stderr
    assert "UTF-16" in result.stderr


def test_add_refuses_standard_input_that_is_no_utf_8(run):
    result = run("add", "-", input=b"t\xe9a")
    assert result.exit_code == 1
    assert "standard input, line 1: not UTF-8" in result.stderr
