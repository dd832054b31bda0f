"""A file that is deleted or replaced while a memory has it open: loud, and never a write that nobody will find."""

import os
import shutil

import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import FileMemory, SqliteMemory, SqliteStore, SqliteVectorMemory, StorageFailedError, blocking

KINDS = {"words": SqliteMemory, "vectors": lambda store: SqliteVectorMemory(store, embedder=HashEmbedder())}
VERBS = {
    "add": lambda memory: memory.add("k", "milk"),
    "list": lambda memory: memory.list("k"),
    "search": lambda memory: memory.list("k", query="tea", limit=3),
    "get": lambda memory: memory.get("k", "1"),
    "clear": lambda memory: memory.clear("k"),
    "scope_keys": lambda memory: memory.scope_keys(),
}

if os.name == "nt":
    pytest.skip("an open file can be neither deleted nor replaced there", allow_module_level=True)


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.mark.parametrize("verb", VERBS)
def test_a_database_that_was_deleted_while_open_is_an_error_in_every_verb(tmp_path, kind, verb):
    """anomalyco/opencode#21215, mem0ai/mem0#4833"""
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        memory = blocking(kind(store))
        memory.add("k", "tea")
        memory.list("k", query="tea", limit=3)
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(StorageFailedError, match="deleted or replaced"):
            VERBS[verb](memory)
        assert list(tmp_path.iterdir()) == []
    with blocking(kind(path)) as again:
        assert again.list("k") == []
        again.add("k", "bread")
        assert texts_of(again.list("k")) == ["bread"]


def test_a_database_that_was_replaced_while_open_is_left_alone(tmp_path, kind):
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with blocking(kind(copy)) as other:
        other.add("k", "of the copy")
    with SqliteStore(path) as store:
        memory = blocking(kind(store))
        memory.add("k", "of the old file")
        for log in tmp_path.glob("memory.db-*"):  # else SQLite takes it for that of the new file
            log.unlink()
        copy.replace(path)
        for verb in VERBS.values():
            with pytest.raises(StorageFailedError, match="open it again"):
                verb(memory)
    with blocking(kind(path)) as again:
        assert texts_of(again.list("k")) == ["of the copy"]
        again.add("k", "and more")
        assert texts_of(again.list("k")) == ["and more", "of the copy"]


def test_closing_a_store_whose_file_was_replaced_takes_no_log_from_who_uses_the_new_one(tmp_path, kind):
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with blocking(kind(copy)) as other:
        other.add("k", "of the copy")
    old = SqliteStore(path)
    blocking(kind(old)).add("k", "of the old file")
    for file in tmp_path.glob("memory.db*"):
        file.unlink()
    copy.replace(path)
    with blocking(kind(path)) as new:
        new.add("k", "written before the old one closes")
        old.close()
        new.add("k", "written after")
        shutil.copy(path, tmp_path / "as if killed.db")
        shutil.copy(f"{path}-wal", tmp_path / "as if killed.db-wal")
    everything = ["written after", "written before the old one closes", "of the copy"]
    for found in (path, tmp_path / "as if killed.db"):
        with blocking(kind(found)) as again:
            assert texts_of(again.list("k")) == everything


def test_a_folder_of_files_that_was_deleted_is_an_empty_memory_that_goes_on(tmp_path):
    """odysseus-dev/odysseus#5831"""
    memory = blocking(FileMemory(tmp_path / "files"))
    memory.add("k", "tea")
    shutil.rmtree(tmp_path / "files")
    assert memory.list("k") == []
    assert memory.scope_keys() == []
    memory.add("k", "milk")
    assert texts_of(memory.list("k")) == ["milk"]


def test_a_file_that_was_replaced_is_read_as_it_is_now(tmp_path):
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "tea")
    kept = (tmp_path / "k.json").read_bytes()
    memory.add("k", "milk")
    (tmp_path / "older.json").write_bytes(kept)
    (tmp_path / "older.json").replace(tmp_path / "k.json")
    assert texts_of(memory.list("k")) == ["tea"]
    memory.add("k", "bread")
    assert texts_of(memory.list("k")) == ["bread", "tea"]
