"""What the tests of encryption share; they need a SQLite that encrypts."""

import apsw
import pytest

from embedders import HashEmbedder
from vectormem import SqliteStore, SqliteVectorMemory, blocking

PASSPHRASE = "correct horse, battery's staple; naïve"
RAW = bytes(range(1, 33))

if not hasattr(apsw, "mc_version"):
    pytest.skip("needs apsw-sqlite3mc in place of apsw", allow_module_level=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture(params=[PASSPHRASE, RAW], ids=["passphrase", "raw"])
def key(request):
    return request.param


@pytest.fixture
def store(path, key):
    with SqliteStore(path, key=key) as store:
        yield store


def memory_of(store):
    return blocking(SqliteVectorMemory(store, embedder=HashEmbedder(), max_items=None))
