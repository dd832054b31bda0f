"""A database on a network file system, as the list of mounts tells it."""

import logging
import sqlite3
from contextlib import closing

import pytest

from embedders import HashEmbedder
from tests.conftest import texts_of
from vectormem import SqliteMemory, SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores.sqlite import disk


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """Let the folder of the test be mounted with this type of file system."""

    def pretend(*lines):
        path = tmp_path / "mounts"
        path.write_text("/dev/sda / ext4 rw 0 0\n" + "".join(f"{line}\n" for line in lines))
        monkeypatch.setattr(disk, "_MOUNTS", path)

    return pretend


@pytest.mark.parametrize("kind", ["nfs4", "nfs", "cifs", "smb3", "9p", "fuse.sshfs"])
def test_a_database_on_a_network_disk_has_no_shared_log_and_says_so_once(tmp_path, mounts, caplog, kind):
    """can1357/oh-my-pi#9082"""
    mounts(f"server:/x {tmp_path} {kind} rw 0 0")
    with caplog.at_level(logging.WARNING, "vectormem"), SqliteStore(tmp_path / "memory.db") as store:
        blocking(SqliteMemory(store)).add("words", "tea")
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        memory.add("k", "tea")
        assert texts_of(memory.list("k", query="tea")) == ["tea"]
        assert store.reads_never_wait is False
        assert store.read(lambda connection: connection.pragma("journal_mode")) == "delete"
    (warning,) = [record.getMessage() for record in caplog.records]
    assert str(tmp_path / "memory.db") in warning
    assert kind in warning
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.db", "mounts"]


def test_a_database_that_had_a_log_loses_it_when_it_is_opened_on_a_network_disk(tmp_path, mounts):
    path = tmp_path / "memory.db"
    with blocking(SqliteMemory(path)) as memory:
        memory.add("k", "tea")
    mounts(f"server:/x {tmp_path} nfs rw 0 0")
    with blocking(SqliteMemory(path)) as memory:
        assert texts_of(memory.list("k")) == ["tea"]
        memory.add("k", "milk")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
        assert connection.execute("SELECT count(*) FROM memory_items").fetchall() == [(2,)]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["server:/x /somewhere/else nfs rw 0 0"],
        ["server:/x {folder}-beside nfs rw 0 0"],
        ["server:/x {parent} nfs rw 0 0", "/dev/sdb {folder} xfs rw 0 0"],
        ["server:/x {folder} nfs rw 0 0", "/dev/sdb {folder} xfs rw 0 0"],
    ],
)
def test_any_other_database_has_a_log_and_no_warning(tmp_path, mounts, caplog, lines):
    mounts(*(line.format(folder=tmp_path, parent=tmp_path.parent) for line in lines))
    with SqliteStore(tmp_path / "memory.db") as store:
        assert store.reads_never_wait is True
        assert store.read(lambda connection: connection.pragma("journal_mode")) == "wal"
    assert caplog.records == []


def test_a_mount_point_may_hold_a_space(tmp_path, mounts):
    folder = tmp_path / "a share"
    folder.mkdir()
    mounts(f"server:/x {tmp_path}/a\\040share nfs rw 0 0")
    assert disk.network_file_system(str(folder / "memory.db")) == "nfs"
    assert disk.network_file_system(str(tmp_path / "memory.db")) is None


def test_a_system_without_a_list_of_mounts_is_taken_to_be_local(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_MOUNTS", tmp_path / "nothing")
    assert disk.network_file_system(str(tmp_path / "memory.db")) is None
