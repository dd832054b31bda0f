"""Erasing a scope key from a folder of files."""

import json

import pytest

from tests.conftest import texts_of
from tests.stores.raw_files import places_of
from vectormem import FileMemory, StorageFailedError, blocking


def test_the_files_of_the_scope_go_in_every_slot_with_what_crashes_left_and_no_other(tmp_path):
    memory = blocking(FileMemory(tmp_path))
    kept = ["facts#user:sam2", "facts#x#user:sam", "user:sam#facts", "facts#user:sam.json.x"]
    for key in ("facts#user:sam", "notes#user:sam", "user:sam", "facts#user:sam", *kept):
        memory.add(key, f"needle under {key}")
    name = "facts%23user%3asam.json"
    (tmp_path / f"{name}.0a1b.tmp").write_text("half a needle")
    other = tmp_path / "facts%23user%3asam.json.x.json.0a1b.tmp"
    other.write_text("a file that is being written")
    assert memory.erase("user:sam") == ({"facts#user:sam": 1, "notes#user:sam": 1, "user:sam": 1}, 0, 0, 0)
    assert list(memory.scope_keys()) == sorted(kept)
    assert other.exists()
    assert places_of("half a needle", tmp_path) == []
    assert memory.list("facts#user:sam") == []


def test_a_file_with_the_name_of_earlier_programs_goes_too(tmp_path):
    item = {"id": "1", "text": "needle", "created_at": "2024-01-01T00:00:00Z"}
    (tmp_path / "user%3ASam.json").write_text(json.dumps([item]))
    memory = blocking(FileMemory(tmp_path))
    assert memory.erase("user:Sam").keys == {"user:Sam": 1}
    assert list(tmp_path.iterdir()) == []


def test_a_key_too_long_for_a_file_name_is_found_in_its_file(tmp_path):
    memory, key = blocking(FileMemory(tmp_path)), "user:" + "sam" * 100
    memory.add(f"facts#{key}", "needle")
    assert memory.erase(key).keys == {f"facts#{key}": 1}
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_others_made_is_reported_and_a_document_of_another_key_is_none(tmp_path):
    memory, text = blocking(FileMemory(tmp_path)), 'they said "tea, please"\nand left'
    memory.add("facts#sam", text)
    memory.add("facts#ann", text)
    (tmp_path / "facts%23sam.json.bak").write_bytes((tmp_path / "facts%23sam.json").read_bytes())
    with pytest.raises(StorageFailedError, match=r"1 items.*facts%23sam\.json\.bak"):
        memory.erase("sam")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["facts%23ann.json", "facts%23sam.json.bak"]
    assert texts_of(memory.list("facts#ann")) == [text]


def test_a_damaged_file_of_the_key_is_an_error_and_stays(tmp_path):
    (tmp_path / "facts%23sam.json").write_text("{")
    with pytest.raises(StorageFailedError, match="damaged"):
        blocking(FileMemory(tmp_path)).erase("sam")
    assert (tmp_path / "facts%23sam.json").read_text() == "{"


def test_a_damaged_file_of_another_key_is_no_matter(tmp_path):
    (tmp_path / "facts%23ann.json").write_text("{")
    memory = blocking(FileMemory(tmp_path))
    memory.add("facts#sam", "tea")
    assert memory.erase("sam").keys == {"facts#sam": 1}


def test_in_a_folder_that_is_not_there_nothing_is_erased(tmp_path):
    assert blocking(FileMemory(tmp_path / "none")).erase("sam") == ({}, 0, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_a_removed_or_cleared_text_is_left_in_any_file_of_the_folder(tmp_path):
    memory = blocking(FileMemory(tmp_path, max_items=3))
    items = [memory.add("k", f"needle {number}", metadata={"n": "needlework"}) for number in range(5)]
    memory.upsert("k", "plain", id=items[4].id)
    memory.remove("k", items[3].id)
    assert texts_of(memory.list("k")) == ["plain", "needle 2"]
    assert places_of("needle 3", tmp_path) == places_of("needle 0", tmp_path) == []
    memory.clear("k")
    assert places_of("needle", tmp_path) == []
