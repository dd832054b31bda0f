"""Slots defined in the files of a folder."""

import sys

import pytest

from vectormem import InMemoryMemory, MemoryInvalidError, define_memory, load_memory_slots

SLOT = """
from vectormem import InMemoryMemory, define_memory

slot = define_memory(name="{name}", scope="global", provider=InMemoryMemory())
"""

OPTIONS = """
from vectormem import InMemoryMemory

memory = {"scope": "session", "provider": InMemoryMemory(), "description": "What the user likes."}
"""


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for stem, content in files.items():
            (tmp_path / f"{stem}.py").write_text(content)
        return tmp_path

    return write


def names(slots):
    return [slot.name for slot in slots]


def test_each_file_gives_one_slot_in_the_order_of_the_file_names(folder):
    path = folder(b=SLOT.format(name="second"), a=SLOT.format(name="third"), c=SLOT.format(name="first"))
    assert names(load_memory_slots(path)) == ["third", "second", "first"]
    assert names(load_memory_slots(str(path))) == ["third", "second", "first"]


def test_a_dict_of_options_takes_its_name_from_the_file(folder):
    slot = load_memory_slots(folder(preferences=OPTIONS))[0]
    assert (slot.name, slot.scope, slot.description) == ("preferences", "session", "What the user likes.")


def test_a_name_in_the_options_is_kept(folder):
    content = OPTIONS.replace("{", '{"name": "likes", ')
    assert names(load_memory_slots(folder(preferences=content))) == ["likes"]


def test_a_slot_under_two_names_in_one_file_is_one_slot(folder):
    assert names(load_memory_slots(folder(a=SLOT.format(name="notes") + "\nsame = slot\n"))) == ["notes"]


def test_private_names_and_private_files_are_passed_over(folder):
    content = (
        SLOT.format(name="notes") + "\n_draft = define_memory(name='draft', scope='global', provider=slot.provider)\n"
    )
    assert names(load_memory_slots(folder(a=content, _helper="raise RuntimeError"))) == ["notes"]


def test_other_files_are_passed_over(folder):
    path = folder(a=SLOT.format(name="notes"))
    (path / "notes.txt").write_text("text")
    (path / "sub").mkdir()
    (path / "sub" / "b.py").write_text(SLOT.format(name="deeper"))
    assert names(load_memory_slots(path)) == ["notes"]


def test_an_empty_folder_gives_no_slots(tmp_path):
    assert load_memory_slots(tmp_path) == []


@pytest.mark.parametrize("content", ["", "x = 1\n", "settings = {'name': 'notes'}\n"])
def test_a_file_without_a_slot_is_an_error_that_names_it(folder, content):
    with pytest.raises(MemoryInvalidError, match=r"nothing\.py"):
        load_memory_slots(folder(nothing=content))


def test_a_file_with_two_slots_is_an_error_that_names_it(folder):
    content = SLOT.format(name="one") + SLOT.format(name="two").replace("slot =", "other =")
    with pytest.raises(MemoryInvalidError, match=r"both\.py.*2"):
        load_memory_slots(folder(both=content))


def test_a_file_that_fails_is_an_error_that_names_it(folder):
    with pytest.raises(MemoryInvalidError, match=r"broken\.py") as caught:
        load_memory_slots(folder(broken="1 / 0"))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_file_with_a_syntax_error_is_an_error_that_names_it(folder):
    with pytest.raises(MemoryInvalidError, match=r"broken\.py"):
        load_memory_slots(folder(broken="def"))


@pytest.mark.parametrize("extra", ['"max_items": 3, ', '"recall": {"query": "all"}, ', '"name": "a b", '])
def test_options_that_are_not_valid_are_an_error_that_names_the_file(folder, extra):
    with pytest.raises(MemoryInvalidError, match=r"preferences\.py"):
        load_memory_slots(folder(preferences=OPTIONS.replace("{", "{" + extra)))


def test_a_file_name_that_is_no_slot_name_is_an_error_that_names_the_file(folder):
    path = folder(a=SLOT.format(name="notes"))
    (path / "my notes.py").write_text(OPTIONS)
    with pytest.raises(MemoryInvalidError, match=r"my notes\.py"):
        load_memory_slots(path)


def test_two_files_with_one_slot_name_are_an_error(folder):
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        load_memory_slots(folder(a=SLOT.format(name="notes"), b=SLOT.format(name="notes")))


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(MemoryInvalidError, match="missing"):
        load_memory_slots(tmp_path / "missing")


def test_an_override_takes_the_place_of_the_slot_with_its_name_and_others_come_last(folder):
    path = folder(a=SLOT.format(name="one"), b=SLOT.format(name="two"))
    provider = InMemoryMemory()
    mine = define_memory(name="one", scope="session", provider=provider)
    more = define_memory(name="more", scope="global", provider=provider)
    slots = load_memory_slots(path, overrides=[more, mine])
    assert names(slots) == ["one", "two", "more"]
    assert slots[0] is mine
    assert slots[2] is more


def test_files_of_one_name_in_two_folders_do_not_mix(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.py").write_text(SLOT.format(name=folder))
    assert names([*load_memory_slots(tmp_path / "x"), *load_memory_slots(tmp_path / "y")]) == ["x", "y"]


def test_a_file_may_define_a_schema_with_postponed_annotations(folder):
    content = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from pydantic import BaseModel\n"
        "class Place(BaseModel):\n    city: str\n"
        "@dataclass\nclass Fact:\n    topic: str\n    place: Place\n" + OPTIONS.replace("{", '{"item_schema": Fact, ')
    )
    slot = load_memory_slots(folder(facts=content))[0]
    assert sorted(slot.item_schema.json_schema["properties"]) == ["place", "topic"]


def test_a_failing_file_leaves_no_module_behind(folder):
    before = set(sys.modules)
    with pytest.raises(MemoryInvalidError):
        load_memory_slots(folder(broken="1 / 0"))
    assert {name for name in set(sys.modules) - before if "slots" in name} == set()
