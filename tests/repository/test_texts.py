"""What no text of the checkout may hold."""

from tests.repository.sources import files, short

TEXTS = {
    short(path): path.read_text("utf-8")
    for path in files()
    if path.suffix in (".py", ".md", ".toml", ".json", ".yml", ".txt", "")
}
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("crates", "io"))]


def test_no_text_names_the_host_of_a_package_registry():
    assert [(name, host) for name, text in TEXTS.items() for host in HOSTS if host in text.lower()] == []


def test_every_text_ends_with_one_line_break():
    assert [name for name, text in TEXTS.items() if text and (text[-1] != "\n" or text.endswith("\n\n"))] == []


def test_no_line_has_trailing_spaces():
    lines = [(name, line) for name, text in TEXTS.items() for line in text.split("\n")]
    assert [(name, line) for name, line in lines if line != line.rstrip()] == []


def test_no_text_holds_a_conflict_marker():
    markers = ("<" * 7 + " ", ">" * 7 + " ")
    assert [name for name, text in TEXTS.items() for line in text.split("\n") if line.startswith(markers)] == []
