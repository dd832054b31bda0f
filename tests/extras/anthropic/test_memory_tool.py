"""The commands of Anthropic's memory tool over slots."""

import pytest
from anthropic.lib.tools import ToolError

from tests.extras.anthropic.slots import define, kept, put
from vectormem import blocking


def test_view_lists_the_files_of_all_memories_or_of_one(use):
    notes, facts, empty = define(), define("facts"), define("empty")
    put(notes, "tea", "Likes tea.")
    put(notes, "home", "In Oslo.")
    put(facts, "a/b c".replace(" ", "_"), "x")
    listed = use([notes, facts, empty], "view", path="/memories")
    assert listed.splitlines() == [
        "Files in /memories:",
        "/memories/notes/home.md",
        "/memories/notes/tea.md",
        "/memories/facts/a%2Fb_c.md",
    ]
    assert use([notes, facts], "view", path="/memories/facts/").splitlines()[1:] == ["/memories/facts/a%2Fb_c.md"]
    assert use([empty], "view", path="/memories") == "/memories holds no files yet."


def test_what_view_lists_can_be_viewed(use):
    slot = define()
    put(slot, "a/b%c", "x")
    path = use([slot], "view", path="/memories").splitlines()[1]
    assert use([slot], "view", path=path).splitlines()[1:] == ["     1\tx"]


def test_view_shows_lines_with_their_numbers(use):
    slot = define()
    put(slot, "list", "one\ntwo\nthree")
    path = "/memories/notes/list.md"
    assert use([slot], "view", path=path).splitlines()[1:] == ["     1\tone", "     2\ttwo", "     3\tthree"]
    assert use([slot], "view", path=path, view_range=[2, 3]).splitlines()[1:] == ["     2\ttwo", "     3\tthree"]
    assert use([slot], "view", path=path, view_range=[3, -1]).splitlines()[1:] == ["     3\tthree"]


@pytest.mark.parametrize("lines", [[0, 1], [4, 5], [2, 1], [1], [1, 2, 3]])
def test_a_range_that_is_none_is_refused(use, lines):
    slot = define()
    put(slot, "list", "one\ntwo\nthree")
    with pytest.raises(ToolError, match="view_range must be"):
        use([slot], "view", path="/memories/notes/list.md", view_range=lines)


def test_create_stores_a_file_that_is_not_there_yet(use):
    slot = define()
    use([slot], "create", path="/memories/notes/home.md", file_text="In Oslo.\n")
    assert kept(slot) == {"home": "In Oslo.\n"}
    with pytest.raises(ToolError, match="exists already"):
        use([slot], "create", path="/memories/notes/home.md", file_text="In Bergen.")
    assert kept(slot) == {"home": "In Oslo.\n"}


def test_a_text_is_not_taken_from_the_file_that_holds_it(use):
    slot = define()
    put(slot, "home", "In Oslo.")
    put(slot, "city", "In Bergen.")
    with pytest.raises(ToolError, match=r"stands in /memories/notes/home\.md already"):
        use([slot], "create", path="/memories/notes/other.md", file_text="In Oslo.")
    with pytest.raises(ToolError, match=r"home\.md already"):
        use([slot], "str_replace", path="/memories/notes/city.md", old_str="Bergen", new_str="Oslo")
    assert kept(slot) == {"city": "In Bergen.", "home": "In Oslo."}


def test_str_replace_replaces_the_one_place(use):
    slot = define()
    blocking(slot.provider).upsert("notes#global", "In Oslo. In May.", id="home", metadata={"source": "chat"})
    use([slot], "str_replace", path="/memories/notes/home.md", old_str="Oslo", new_str="Bergen")
    [item] = blocking(slot.provider).list("notes#global")
    assert (item.id, item.text, item.metadata) == ("home", "In Bergen. In May.", {"source": "chat"})
    use([slot], "str_replace", path="/memories/notes/home.md", old_str=" In May.", new_str="")
    assert kept(slot) == {"home": "In Bergen."}


@pytest.mark.parametrize(("old", "times"), [("In", 2), ("Rome", 0), ("", 0)])
def test_str_replace_refuses_what_stands_there_not_once(use, old, times):
    slot = define()
    put(slot, "home", "In Oslo. In May.")
    with pytest.raises(ToolError, match=f"{times} times"):
        use([slot], "str_replace", path="/memories/notes/home.md", old_str=old, new_str="x")
    assert kept(slot) == {"home": "In Oslo. In May."}


@pytest.mark.parametrize(("line", "expected"), [(0, "new\none\ntwo"), (1, "one\nnew\ntwo"), (2, "one\ntwo\nnew")])
def test_insert_puts_lines_behind_a_line(use, line, expected):
    slot = define()
    put(slot, "list", "one\ntwo")
    use([slot], "insert", path="/memories/notes/list.md", insert_line=line, insert_text="new\n")
    assert kept(slot) == {"list": expected}


@pytest.mark.parametrize("line", [-1, 3])
def test_insert_refuses_a_line_that_is_not_there(use, line):
    slot = define()
    put(slot, "list", "one\ntwo")
    with pytest.raises(ToolError, match="from 0 to 2"):
        use([slot], "insert", path="/memories/notes/list.md", insert_line=line, insert_text="new")


def test_delete_deletes_one_file(use):
    slot = define()
    put(slot, "a", "one")
    put(slot, "b", "two")
    use([slot], "delete", path="/memories/notes/a.md")
    assert kept(slot) == {"b": "two"}
    with pytest.raises(ToolError, match="there is no file"):
        use([slot], "delete", path="/memories/notes/a.md")


@pytest.mark.parametrize("path", ["/memories", "/memories/notes", "/memories/notes/"])
def test_folders_are_neither_deleted_nor_written(use, path):
    slot = define()
    put(slot, "a", "one")
    with pytest.raises(ToolError, match="is a folder"):
        use([slot], "delete", path=path)
    with pytest.raises(ToolError, match="is a folder"):
        use([slot], "create", path=path, file_text="x")
    assert kept(slot) == {"a": "one"}


def test_rename_keeps_the_text_under_another_name_or_in_another_memory(use):
    notes, facts = define(), define("facts")
    blocking(notes.provider).upsert("notes#global", "In Oslo.", id="a", metadata={"n": 1})
    use([notes, facts], "rename", old_path="/memories/notes/a.md", new_path="/memories/notes/b.md")
    assert kept(notes) == {"b": "In Oslo."}
    use([notes, facts], "rename", old_path="/memories/notes/b.md", new_path="/memories/facts/c.md")
    assert (kept(notes), kept(facts)) == ({}, {"c": "In Oslo."})
    assert blocking(facts.provider).list("facts#global")[0].metadata == {"n": 1}


def test_rename_overwrites_nothing(use):
    slot = define()
    put(slot, "a", "one")
    put(slot, "b", "two")
    with pytest.raises(ToolError, match="exists already"):
        use([slot], "rename", old_path="/memories/notes/a.md", new_path="/memories/notes/b.md")
    with pytest.raises(ToolError, match="there is no file"):
        use([slot], "rename", old_path="/memories/notes/c.md", new_path="/memories/notes/d.md")
    assert kept(slot) == {"a": "one", "b": "two"}
