"""ChatStorage on Postgres: the tests of chats, each on a database of its own in place of SQLite's."""

import hashlib
import uuid

import psycopg
import pytest
from psycopg import sql

from tests.chat import (
    test_deletion,
    test_embed_pending,
    test_following,
    test_hybrid,
    test_passages,
    test_saving,
    test_search,
    test_storage,
    test_tool,
)
from vectormem import ChatStorage, PostgresStore, PostgresVectorMemory, SqliteStore

MODULES = (
    test_deletion,
    test_embed_pending,
    test_following,
    test_hybrid,
    test_passages,
    test_saving,
    test_search,
    test_storage,
    test_tool,
)
ABOUT_SQLITE = {
    "test_a_deleted_conversation_leaves_no_row_behind",
    "test_a_wrong_store_is_refused",
    "test_an_older_database_gains_the_tables_of_chats",
    "test_another_process_is_seen_at_once",
    "test_deleted_text_is_overwritten_in_the_file",
    "test_the_answer_to_a_message_that_is_gone_forgets_what_it_answered",
}

for module in MODULES:
    for name, value in vars(module).items():
        if name.startswith("test_") and callable(value) and name not in ABOUT_SQLITE:
            assert name not in globals(), f"two tests are called {name}"
            globals()[name] = value


@pytest.fixture(autouse=True)
def on_postgres(dsn, admin, monkeypatch):
    """Let what opens a database of SQLite open a schema in Postgres."""
    prefix, stores = f"test_{uuid.uuid4().hex[:8]}", []

    def opened(path, **options):
        place = uuid.uuid4().hex[:8] if path == ":memory:" else hashlib.md5(str(path).encode()).hexdigest()[:8]
        stores.append(PostgresStore(dsn, schema=f"{prefix}_{place}", pool_size=3, **options))
        return stores[-1]

    def chats(store, **options):
        return ChatStorage(store if isinstance(store, PostgresStore) else opened(store), **options)

    for module in MODULES:
        if getattr(module, "ChatStorage", None) is ChatStorage:
            monkeypatch.setattr(module, "ChatStorage", chats)
        if getattr(module, "SqliteStore", None) is SqliteStore:
            monkeypatch.setattr(module, "SqliteStore", opened)
    monkeypatch.setattr(test_storage, "SqliteVectorMemory", PostgresVectorMemory)
    yield
    for store in stores:
        store.close()
    for name in {store.schema for store in stores}:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))
