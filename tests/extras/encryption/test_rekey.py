"""Changing the key of a database, its first key, its last, and crashes in between."""

import asyncio
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import texts_of
from tests.extras.encryption.conftest import PASSPHRASE, RAW, memory_of
from tests.stores.raw_files import places_of
from vectormem import MemoryInvalidError, SqliteStore, StorageFailedError, blocking
from vectormem.stores.sqlite import rekey as rekeying

TEXTS = [f"needle {number}: {'vegetarian ' * 30}" for number in range(200)]
KEYS = [None, PASSPHRASE, RAW, "another passphrase"]
NAMES = ["none", "passphrase", "raw", "another"]


@pytest.mark.parametrize("old", KEYS, ids=NAMES)
@pytest.mark.parametrize("new", KEYS, ids=NAMES)
def test_a_database_gets_its_new_key_and_keeps_everything(path, old, new):
    with SqliteStore(path, key=old) as store:
        items = memory_of(store).add_many("k", TEXTS)
        blocking(store).rekey(new)
        assert list(memory_of(store).list("k")) == list(reversed(items))
        memory_of(store).add("k", "added with the new key")
        assert texts_of(memory_of(store).list("k", query=TEXTS[7], limit=1)) == [TEXTS[7]]
    with SqliteStore(path, key=new) as store:
        assert memory_of(store).count("k") == 201
    if old != new:
        with pytest.raises(StorageFailedError):
            SqliteStore(path, key=old)
    assert [one.name for one in path.parent.iterdir()] == ["memory.db"]
    assert (places_of("needle", path.parent) == []) is (new is not None)


def test_a_key_cannot_change_while_another_store_has_the_file_open(path):
    with SqliteStore(path, key=PASSPHRASE) as store, SqliteStore(path, key=PASSPHRASE) as other:
        memory_of(other).add("k", "tea")
        with pytest.raises(StorageFailedError, match="while others have it open"):
            blocking(store).rekey(RAW)
        memory_of(other).add("k", "milk")
        assert memory_of(store).count("k") == 2
    assert [one.name for one in path.parent.iterdir()] == ["memory.db"]
    with SqliteStore(path, key=PASSPHRASE) as store:
        assert memory_of(store).count("k") == 2


def test_readers_and_writers_of_the_same_store_wait_for_the_new_key(path):
    async def use():
        async with SqliteStore(path, key=PASSPHRASE) as store:
            memory = memory_of(store).target
            await memory.add_many("k", TEXTS)
            *_, counts = await asyncio.gather(
                store.rekey(RAW),
                *(memory.add("k", f"number {number}") for number in range(10)),
                asyncio.gather(*(memory.count("k") for _ in range(10))),
            )
            return counts, await memory.count("k")

    counts, final = asyncio.run(use())
    assert all(200 <= count <= 210 for count in counts)
    assert final == 210


def test_a_failure_before_the_end_leaves_the_old_key_and_no_other_file(path, monkeypatch):
    with SqliteStore(path, key=PASSPHRASE) as store:
        memory_of(store).add("k", "tea")
        for failing in ("_change_key", "put_in_place"):
            with monkeypatch.context() as patched:
                patched.setattr(rekeying, failing, fail)
                with pytest.raises(ZeroDivisionError):
                    blocking(store).rekey(RAW)
            assert memory_of(store).count("k") == 1
        store.close()
        assert [one.name for one in path.parent.iterdir()] == ["memory.db"]


def fail(*args, **options):
    raise ZeroDivisionError


REKEYING = """
import sys
from vectormem import SqliteStore, blocking

with SqliteStore(sys.argv[1], key=sys.argv[2]) as store:
    old, new = sys.argv[2:]
    while True:
        print(old, flush=True)
        blocking(store).rekey(new)
        old, new = new, old
"""


@pytest.mark.parametrize("attempt", range(12))
def test_a_change_that_is_killed_leaves_the_file_with_the_old_key_or_the_new_one(path, attempt):
    with SqliteStore(path, key="key one") as store:
        memory_of(store).add_many("k", TEXTS)
    process = subprocess.Popen(
        [sys.executable, "-c", REKEYING, str(path), "key one", "key two"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(2):
        assert process.stdout.readline(), process.stderr.read()
    time.sleep(attempt * 0.02)  # no wait for something: another moment for each attempt
    process.send_signal(signal.SIGKILL)
    process.communicate()
    opened = [key for key in ("key one", "key two") if opens(path, key)]
    assert len(opened) == 1
    with SqliteStore(path, key=opened[0]) as store:
        assert sorted(texts_of(memory_of(store).list("k"))) == sorted(TEXTS)
    assert places_of("needle", path.parent) == []


def opens(path, key):
    try:
        SqliteStore(path, key=key).close()
    except StorageFailedError:
        return False
    return True


def test_a_database_in_memory_has_no_key():
    with SqliteStore(":memory:") as store, pytest.raises(MemoryInvalidError, match="in memory"):
        blocking(store).rekey(RAW)
