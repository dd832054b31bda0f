"""Backups, erasures and wiping while several real processes write, and a restoring that is killed."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.conftest import texts_of
from tests.processes.crowd import release, start_worker
from tests.processes.worker import KEY, open_memory
from vectormem import SqliteMemory, SqliteStore, blocking

WRITERS = [f"writer{number}" for number in range(4)]
ADDS = 60


def kept_by(path):
    """Check a database with another SQLite, and return the texts of its one key, oldest first."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        texts = [text for (text,) in connection.execute("SELECT text FROM memory_items ORDER BY seq")]
        assert connection.execute("SELECT total(items) FROM memory_keys").fetchall() == [(len(texts),)]
        assert connection.execute("SELECT count(*) FROM memory_vectors").fetchall() == [(len(texts),)]
    return texts


def test_backups_taken_while_four_processes_write_are_states_that_the_database_has_had(tmp_path):
    path = tmp_path / "vectors.db"
    workers = [start_worker("vectors", tmp_path, name, ADDS) for name in WRITERS]
    for worker in workers:
        release(worker)
    snapshots = []
    with SqliteStore(path) as store:
        while any(worker.poll() is None for worker in workers):
            backup = tmp_path / f"{len(snapshots)}.db"
            snapshots.append((backup, blocking(store).backup(backup)))
            blocking(store).wipe(wait_seconds=0)
    assert [worker.communicate()[1] for worker in workers] == [""] * 4
    final = kept_by(path)
    assert len(final) == len(WRITERS) * ADDS
    assert len(snapshots) >= 3
    for backup, snapshot in snapshots:
        texts = kept_by(backup)
        assert texts == final[: len(texts)]
        assert snapshot.keys == ({KEY: len(texts)} if texts else {})
    counts = [sum(snapshot.keys.values()) for _, snapshot in snapshots]
    assert counts == sorted(counts)
    assert any(0 < count < len(final) for count in counts)


def test_keys_are_erased_while_four_processes_write_another_one(tmp_path):
    workers = [start_worker("vectors", tmp_path, name, ADDS) for name in WRITERS]
    for worker in workers:
        release(worker)
    erased = 0
    with SqliteStore(tmp_path / "vectors.db") as store:
        memory = blocking(SqliteMemory(store))
        while any(worker.poll() is None for worker in workers):
            memory.add_many("facts#sam", [f"needle {number} in the haystack" for number in range(20)])
            assert blocking(store).erase("sam", wait_seconds=60).keys == {"facts#sam": 20}
            erased += 1
    assert [worker.communicate()[1] for worker in workers] == [""] * 4
    assert erased >= 3
    assert len(kept_by(tmp_path / "vectors.db")) == len(WRITERS) * ADDS
    assert b"needle" not in (tmp_path / "vectors.db").read_bytes()


RESTORER = """
import sys
from vectormem import SqliteStore, blocking

with SqliteStore(sys.argv[1]) as store:
    print("ready", flush=True)
    while True:
        for backup in sys.argv[2:]:
            blocking(store).restore(backup)
            print(backup, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is a signal of POSIX systems")
def test_a_restoring_that_is_killed_leaves_one_of_the_two_states(tmp_path):
    path, states = tmp_path / "vectors.db", []
    with blocking(open_memory("vectors", tmp_path)) as memory, SqliteStore(path) as store:
        for name in ("one", "two"):
            memory.clear(KEY)
            memory.add_many(KEY, [f"{name} {number} " + "x" * 2000 for number in range(150)])
            blocking(store).backup(tmp_path / f"{name}.db")
            states.append(texts_of(memory.list(KEY))[::-1])
    for restored in range(1, 5):
        arguments = [str(path), str(tmp_path / "one.db"), str(tmp_path / "two.db")]
        process = subprocess.Popen(
            [sys.executable, "-c", RESTORER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(restored):
            assert process.stdout.readline(), process.stderr.read()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert kept_by(path) in states
        with blocking(open_memory("vectors", tmp_path)) as memory:
            assert texts_of(memory.list(KEY))[::-1] in states
