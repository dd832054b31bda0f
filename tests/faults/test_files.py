"""Faults of files: cut, full, read-only, too new, half replaced, or more than data."""

import ast
import errno
import os
import pickle
import sqlite3
from contextlib import closing

import pytest

from embedders import HashEmbedder
from tests.conftest import as_nobody, texts_of
from tests.repository.sources import modules
from vectormem import (
    FileMemory,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
    StorageFailedError,
    VectorMemError,
    blocking,
)
from vectormem.stores.file import store as file_store


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9])
def test_a_cut_file_is_an_error_and_keeps_its_bytes(tmp_path, kept):
    """odysseus-dev/odysseus#5831, Lilly-Protocol/agentlily-runtime#262"""
    memory = blocking(FileMemory(tmp_path))
    memory.add_many("k", ["one", "two", "three"])
    path = tmp_path / "k.json"
    cut = path.read_bytes()[: int(path.stat().st_size * kept)]
    path.write_bytes(cut)
    for verb in (lambda: memory.list("k"), lambda: memory.add("k", "four")):
        with pytest.raises(StorageFailedError, match="damaged"):
            verb()
    assert path.read_bytes() == cut


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_cut_database_is_an_error_and_never_an_empty_memory(tmp_path, kept):
    """odysseus-dev/odysseus#5831"""
    path = tmp_path / "memory.db"
    with blocking(SqliteMemory(path)) as memory:
        memory.add_many("k", [f"text {number} " + "x" * 500 for number in range(500)])
    cut = path.read_bytes()[: int(path.stat().st_size * kept)]
    path.write_bytes(cut)
    with pytest.raises(StorageFailedError), blocking(SqliteMemory(path)) as memory:
        memory.list("k")


def test_bytes_that_are_no_text_are_a_loud_error(tmp_path):
    """NousResearch/hermes-agent#57754"""
    path = tmp_path / "memory.db"
    with blocking(SqliteMemory(path)) as memory:
        memory.add_many("k", ["one", "two"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE memory_items SET text=CAST(x'ff41' AS TEXT) WHERE seq=1")
        connection.commit()
    with blocking(SqliteMemory(path)) as memory:
        with pytest.raises(StorageFailedError):
            memory.list("k")
        assert texts_of(memory.list("k", limit=1)) == ["two"]


class FullDisk:
    """Lets a file take so many bytes and no more."""

    def __init__(self, file, room):
        self._file, self._room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, content):
        self._file.write(content[: self._room])
        self._file.flush()
        if len(content) > self._room:
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("room", [0, 10, 100])
def test_a_full_disk_keeps_the_old_file_whole_and_leaves_no_other(tmp_path, monkeypatch, room):
    """openhab/openhab-core#2989, gsamokovarov/jump#9"""
    memory = blocking(FileMemory(tmp_path))
    memory.add_many("k", ["one", "two"])
    before = (tmp_path / "k.json").read_bytes()
    with monkeypatch.context() as patched:
        fdopen = os.fdopen
        patched.setattr(file_store.os, "fdopen", lambda *args: FullDisk(fdopen(*args), room))
        with pytest.raises(StorageFailedError, match="No space left"):
            memory.add("k", "three")
    assert [path.name for path in tmp_path.iterdir()] == ["k.json"]
    assert (tmp_path / "k.json").read_bytes() == before
    assert texts_of(memory.list("k")) == ["two", "one"]
    memory.add("k", "four")
    assert texts_of(memory.list("k")) == ["four", "two", "one"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_at_its_end_changes_nothing(tmp_path, monkeypatch, failing):
    """openhab/openhab-core#2989"""
    memory = blocking(FileMemory(tmp_path))
    memory.add("k", "one")

    def fail(*args):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(file_store.os, failing, fail)
        with pytest.raises(StorageFailedError, match="Input/output error"):
            memory.add("k", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["k.json"]
    assert texts_of(memory.list("k")) == ["one"]


def test_read_only_files_can_be_recalled_from_and_say_so_when_written(public_folder):
    """sqlitebrowser/sqlitebrowser#3385"""
    blocking(FileMemory(public_folder)).add("k", "tea")
    (public_folder / "k.json").chmod(0o444)
    public_folder.chmod(0o555)

    def recall_and_add():
        memory = blocking(FileMemory(public_folder))
        found = texts_of(memory.list("k")), texts_of(memory.list("k", query="tea")), memory.scope_keys()
        try:
            memory.add("k", "milk")
        except VectorMemError as error:
            return found, type(error).__name__, str(error)

    found, error, message = as_nobody(recall_and_add)
    assert found == (["tea"], ["tea"], ["k"])
    assert error == "StorageFailedError"
    assert "Permission denied" in message
    assert [path.name for path in public_folder.iterdir()] == ["k.json"]


def test_a_file_is_closed_also_where_reading_it_fails(tmp_path):
    (tmp_path / "k.json").write_text("{")
    memory = blocking(FileMemory(tmp_path))
    for _ in range(2000):  # more than a process may have open
        with pytest.raises(StorageFailedError):
            memory.list("k")


def test_no_module_can_run_code_that_lies_in_a_data_file():
    """mem0ai/mem0#4833, camel-ai/camel#4353"""
    dangerous = {"pickle", "shelve", "marshal", "dill", "joblib", "cloudpickle"}
    found = [
        f"{name}: {ast.unparse(node)}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] in dangerous for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in dangerous)
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.load", "np.fromfile", "faiss.read_index"))
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in ("eval", "exec"))
    ]
    assert found == []


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __reduce__(self):
        return os.system, ("echo exploded > exploded",)


def test_a_crafted_file_beside_the_data_is_never_run(tmp_path, monkeypatch):
    """mem0ai/mem0#4833"""
    monkeypatch.chdir(tmp_path)
    for name in ("k.pkl", "k.npy", "k.npz", "memory.db.pkl", "memory.pkl", "index.faiss", "k.json.pkl"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
    with blocking(FileMemory(tmp_path)) as files, SqliteStore(tmp_path / "memory.db") as store:
        files.add("k", "tea")
        vectors = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        vectors.add("k", "tea")
        assert texts_of(vectors.list("k", query="tea")) == texts_of(files.list("k", query="tea")) == ["tea"]
    assert not (tmp_path / "exploded").exists()
