"""A database that may be read and not written, or not even read."""

from tests.conftest import as_nobody, texts_of
from vectormem import SqliteMemory, SqliteStore, VectorMemError, blocking


def recall_and_add(path):
    try:
        with blocking(SqliteMemory(path)) as memory:
            found = texts_of(memory.list("k")), texts_of(memory.list("k", query="tea"))
            try:
                memory.add("k", "Milk.")
            except VectorMemError as error:
                return found, type(error).__name__, str(error)
            return found, None, "it was written"
    except VectorMemError as error:
        return None, type(error).__name__, str(error)


def test_a_read_only_file_can_be_recalled_from_and_says_so_when_written(public_folder):
    """sqlitebrowser/sqlitebrowser#3385"""
    path = public_folder / "memory.db"
    with blocking(SqliteMemory(path)) as memory:
        memory.add("k", "Tea.")
    path.chmod(0o444)
    public_folder.chmod(0o555)
    before = path.read_bytes()
    found, error, message = as_nobody(lambda: recall_and_add(path))
    assert found == (["Tea."], ["Tea."]), message
    assert error == "StorageFailedError"
    assert "read-only" in message
    assert path.read_bytes() == before


def test_a_file_of_someone_else_that_may_not_be_read_is_a_storage_error(public_folder):
    path = public_folder / "memory.db"
    SqliteStore(path).close()
    found, error, _ = as_nobody(lambda: recall_and_add(path))
    assert (found, error) == (None, "StorageFailedError")
