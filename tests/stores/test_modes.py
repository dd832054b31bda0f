"""Whoever else uses the machine cannot read what is stored."""

import os
import stat

import pytest

from embedders import HashEmbedder
from vectormem import FileMemory, SqliteMemory, SqliteStore, SqliteVectorMemory, blocking

if os.name == "nt":
    pytest.skip("file modes are those of POSIX systems", allow_module_level=True)


@pytest.fixture(params=[0o022, 0o000, 0o077], ids=oct)
def umask(request):
    old = os.umask(request.param)
    yield request.param
    os.umask(old)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_the_folder_of_files_is_created_for_its_owner_alone(tmp_path, umask):
    """buildingjoshbetter/TrueMemory#688, librefang/librefang#5422"""
    blocking(FileMemory(tmp_path / "memory")).add("k", "Tea.")
    assert modes(tmp_path) == {"memory": 0o700}
    assert modes(tmp_path / "memory") == {"k.json": 0o600}


def test_the_temporary_file_and_the_lock_are_private_while_a_file_is_written(tmp_path, umask, monkeypatch):
    memory, seen, fsync = blocking(FileMemory(tmp_path)), [], os.fsync

    def looking(descriptor):
        seen.append(modes(tmp_path))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", looking)
    memory.add("k", "Tea.")
    while_written = next(names for names in seen if any(name.endswith(".tmp") for name in names))
    assert sorted(name.rsplit(".", 1)[1] for name in while_written) == ["lock", "tmp"]
    assert {mode for names in seen for mode in names.values()} == {0o600}


def test_a_rewritten_file_stays_private(tmp_path, umask):
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "Tea.")
    (tmp_path / "k.json").chmod(0o644)
    memory.add("k", "Milk.")
    assert modes(tmp_path) == {"k.json": 0o600}


@pytest.mark.parametrize("kind", [SqliteMemory, lambda store: SqliteVectorMemory(store, embedder=HashEmbedder())])
def test_a_database_and_its_log_and_index_files_are_private(tmp_path, umask, kind):
    with SqliteStore(tmp_path / "memory.db") as store:
        memory = blocking(kind(store))
        memory.add("k", "Tea.")
        memory.list("k", query="tea")
        assert modes(tmp_path) == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert modes(tmp_path) == {"memory.db": 0o600}


def test_folders_above_the_folder_of_files_are_private_too_where_they_are_new(tmp_path, umask):
    blocking(FileMemory(tmp_path / "a" / "b")).add("k", "Tea.")
    assert modes(tmp_path) == {"a": 0o700}
    assert modes(tmp_path / "a") == {"b": 0o700}
    assert modes(tmp_path / "a" / "b") == {"k.json": 0o600}
