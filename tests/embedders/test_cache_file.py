"""The file of a cache: its bound, who is forgotten, and what damage does to it."""

import asyncio
import os
import random
import sqlite3
import stat

import apsw
import numpy as np
import pytest

from embedders import CachedEmbedder
from embedders import cache_file as module
from embedders.cache_file import CacheFile
from vectormem.testing import ScriptedEmbedder

ROW = 4 * 384


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache.db"


def value(n, length=ROW):
    return bytes([n % 251]) * length


def key(n):
    return n.to_bytes(20)


def size(path):
    return sum(file.stat().st_size for file in path.parent.iterdir() if file.name.startswith(path.name))


@pytest.mark.parametrize("length", [4 * 64, ROW, 4 * 1024, 4 * 1536, 4 * 3072, 4 * 10_000])
def test_the_file_never_grows_past_its_bound_and_is_filled_well(path, length):
    cache = CacheFile(path, 2**20)
    rows = 3 * 2**20 // (length + 200)
    largest = 0
    for start in range(0, rows, 16):
        cache.put({key(n): value(n, length) for n in range(start, start + 16)})
        largest = max(largest, size(path))
    assert largest <= 2**20
    kept = sum(len(found) + 128 for found in cache.get([key(n) for n in range(rows + 16)]).values())
    assert kept >= 2**19


def test_the_file_stays_within_its_bound_with_rows_of_all_lengths(path):
    cache, chance = CacheFile(path, 2**20), random.Random(5)
    for n in range(800):
        cache.put({key(n): value(n, chance.choice([12, 256, 1536, 4096, 6144, 12_288]))})
        if n % 7 == 0:
            cache.get([key(chance.randrange(n + 1)) for _ in range(4)])
    assert size(path) <= 2**20


def test_where_gaps_leave_no_free_page_everything_is_forgotten_once(path, monkeypatch, caplog):
    monkeypatch.setattr(module, "_cost", lambda length: 0)
    cache = CacheFile(path, module.SMALLEST)
    for n in range(1000):
        cache.put({key(n): value(n)})
        assert cache.get([key(n)]) == {key(n): value(n)}
    assert size(path) <= module.SMALLEST
    assert caplog.records == []


def test_a_value_larger_than_the_file_is_not_kept_and_harms_no_later_one(path):
    cache = CacheFile(path, module.SMALLEST)
    cache.put({key(1): value(1, 2**18)})
    assert cache.get([key(1)]) == {}
    cache.put({key(2): value(2)})
    assert cache.get([key(2)]) == {key(2): value(2)}


def test_what_was_not_used_for_longest_is_forgotten_first(path):
    cache = CacheFile(path, module.SMALLEST)
    for n in range(40):
        cache.put({key(n): value(n)})
    for n in range(40, 250):
        cache.put({key(n): value(n)})
        assert len(cache.get([key(0), key(1)])) == 2
    assert cache.get([key(2), key(3), key(59)]) == {}
    assert cache.get([key(249)]) == {key(249): value(249)}


def test_storing_a_key_again_replaces_its_value(path):
    cache = CacheFile(path, module.SMALLEST)
    for n in range(300):
        cache.put({key(7): value(n)})
    assert cache.get([key(7)]) == {key(7): value(299)}
    assert size(path) < 100_000


def test_only_the_owner_may_read_the_file(path):
    old = os.umask(0)
    try:
        CacheFile(path, module.SMALLEST).put({key(1): value(1)})
    finally:
        os.umask(old)
    files = [file for file in path.parent.iterdir() if file.is_file()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_missing_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "cache.db"
    CacheFile(path, module.SMALLEST)
    assert path.exists()


# Damage


def embedder_on(path):
    return CachedEmbedder(ScriptedEmbedder(id="model", dimensions=96), path, max_bytes=2**20)


TEXTS = [f"text number {n}" for n in range(200)]


def expected():
    return asyncio.run(ScriptedEmbedder(id="model", dimensions=96).embed(TEXTS))


def check_vectors(path):
    cached = embedder_on(path)
    for _ in range(2):
        np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())
    return cached


@pytest.fixture
def filled(path):
    asyncio.run(embedder_on(path).embed(TEXTS))
    assert check_vectors(path).misses == 0
    return path


@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_change_never_change_a_vector(filled, seed):
    chance = random.Random(seed)
    content = bytearray(filled.read_bytes())
    for _ in range(chance.choice([1, 5, 100])):
        start = chance.randrange(len(content))
        content[start : start + chance.choice([1, 16, 3000])] = b"" if seed % 8 == 7 else chance.randbytes(1)
    filled.write_bytes(content)
    check_vectors(filled)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_change_while_the_cache_is_in_use_never_change_a_vector(filled, seed):
    chance = random.Random(1000 + seed)
    cached = embedder_on(filled)
    for _ in range(4):
        with filled.open("r+b") as file:
            file.seek(chance.randrange(filled.stat().st_size))
            file.write(chance.randbytes(chance.choice([1, 64, 5000])))
        np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"x" * 500, b"\0" * 40_000])
def test_a_file_that_is_no_database_is_renamed_or_used(path, content, caplog):
    path.write_bytes(content)
    cached = check_vectors(path)
    assert cached.hits == len(TEXTS)
    aside = path.with_name("cache.db.corrupt")
    assert (aside.read_bytes() if aside.exists() else b"") == content
    assert [record.name for record in caplog.records] == (["embedders"] if content else [])


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_file_that_is_cut_off_costs_only_time(filled, part):
    content = filled.read_bytes()
    filled.write_bytes(content[: int(len(content) * part)])
    assert check_vectors(filled).hits >= len(TEXTS)


def test_a_file_that_is_deleted_while_in_use_is_begun_anew(filled):
    cached = embedder_on(filled)
    filled.unlink()
    np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())
    assert check_vectors(filled).misses == 0


def test_a_database_of_another_kind_is_refused_and_left_as_it_is(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE precious(x)")
        other.execute("INSERT INTO precious VALUES (42)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another kind; give the cache a file of its own"):
        embedder_on(path)
    assert path.read_bytes() == before


def test_the_settings_of_a_database_of_another_kind_are_left_as_they_are(path):
    other = apsw.Connection(str(path))
    assert other.pragma("journal_mode", "wal") == "wal"
    other.execute("CREATE TABLE precious(x)")
    with pytest.raises(ValueError, match="another kind"):
        embedder_on(path)
    assert other.pragma("journal_mode") == "wal"
    other.close()


DAMAGE = {
    "a row without its number": "DELETE FROM cached_bytes",
    "a number that is a text": "UPDATE cached_bytes SET total='many'",
    "a number that is too large": "UPDATE cached_bytes SET total=1e300",
    "texts in place of vectors": "UPDATE cached_vectors SET vector='text', checksum='text'",
    "no vectors": "UPDATE cached_vectors SET vector=x''",
    "vectors of others": "UPDATE cached_vectors SET vector=(SELECT vector FROM cached_vectors LIMIT 1)",
    "no uses": "DELETE FROM cached_uses",
    "texts in place of uses": "UPDATE cached_uses SET used='now'",
    "a missing table": "DROP TABLE cached_uses",
    "a table of another form": "ALTER TABLE cached_vectors RENAME COLUMN vector TO row",
}


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE.keys())
def test_rows_that_somebody_changed_never_change_a_vector(filled, statement):
    connection = apsw.Connection(str(filled))
    connection.execute(statement)
    connection.close()
    check_vectors(filled)
    assert check_vectors(filled).hits == 2 * len(TEXTS)


def test_a_file_that_becomes_another_database_is_passed_over(filled, caplog):
    cached = embedder_on(filled)
    filled.unlink()
    with sqlite3.connect(filled) as other:
        other.execute("CREATE TABLE precious(x)")
    other.close()
    np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())
    assert "passed over" in caplog.text
    with sqlite3.connect(filled) as other:
        assert [name for (name,) in other.execute("SELECT name FROM sqlite_schema")] == ["precious"]
    other.close()


def test_a_path_that_cannot_be_a_file_is_passed_over_with_one_warning(tmp_path, caplog):
    cached = embedder_on(tmp_path)
    for _ in range(3):
        np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())
    assert [record.name for record in caplog.records] == ["embedders"]


def test_a_locked_file_is_passed_over(filled, monkeypatch, caplog):
    monkeypatch.setattr(module, "_BUSY_MILLISECONDS", 1)
    cached = embedder_on(filled)
    holder = apsw.Connection(str(filled))
    holder.execute("BEGIN EXCLUSIVE")
    np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())
    holder.close()
    assert "passed over" in caplog.text
    np.testing.assert_array_equal(asyncio.run(cached.embed(TEXTS)), expected())
    assert (cached.misses, cached.hits) == (200, 200)
