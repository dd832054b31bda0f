"""How commands come to the database and to its memories, which are imported when they are needed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from vectormem.errors import StorageFailedError

if TYPE_CHECKING:
    from embedders import Embedder
    from vectormem.origin import Origin
    from vectormem.stores.sqlite.store import SqliteStore
    from vectormem.sync import BlockingChat, BlockingMemory, BlockingStore, BlockingVectorMemory


def check_exists(path: Path) -> None:
    """Refuse a missing file, so that commands that read never create one."""
    if path.is_dir():
        raise StorageFailedError(f"{path} is a folder, not a database file")
    if not path.exists():
        raise StorageFailedError(
            f"there is no database {path}; `vectormem add` and `vectormem import` create one, --db names another"
        )


@contextmanager
def opened_store(path: Path, *, create: bool = False) -> "Iterator[SqliteStore]":
    """Open a database file and close it; where it is missing, only `create` makes it."""
    from vectormem.stores.sqlite.store import SqliteStore

    if not create:
        check_exists(path)
    with SqliteStore(path, key=database_key()) as store:
        yield store


def database_key(variable: str = "VECTORMEM_DB_KEY") -> str | None:
    """Return the encryption key from the environment, which no list of processes shows; None where there is none."""
    return os.environ.get(variable) or None


@contextmanager
def blocking_store(path: Path) -> "Iterator[BlockingStore]":
    """Open a database file that is there, with blocking verbs for it as a whole."""
    from vectormem.sync import blocking

    with opened_store(path) as store:
        yield blocking(store)


def plain_memory(store: "SqliteStore") -> "BlockingMemory":
    """Return the items of the store, for what needs no embedder."""
    from vectormem.providers.builtin import SqliteMemory
    from vectormem.sync import blocking

    return blocking(SqliteMemory(store, max_items=None))


def vector_memory(
    store: "SqliteStore",
    embedder: "Embedder",
    *,
    max_items: int | None = None,
    min_score: float = 0.2,
    **origin: "Unpack[Origin]",
) -> "BlockingVectorMemory":
    """Return the items of the store with their vectors; without `max_items`, no item is ever dropped."""
    from vectormem.providers.builtin import SqliteVectorMemory
    from vectormem.sync import blocking

    return blocking(SqliteVectorMemory(store, embedder=embedder, max_items=max_items, min_score=min_score, **origin))


def chat_memory(store: "SqliteStore", embedder: "Embedder", scope_key: str) -> "BlockingChat":
    """Return the chats of a scope key."""
    from vectormem.chat.storage import ChatStorage
    from vectormem.sync import blocking

    return blocking(ChatStorage(store, embedder=embedder, scope_key=scope_key))
