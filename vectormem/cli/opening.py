"""How commands come to the database and to its memories, which are imported when they are needed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack

from vectormem.cli.place import FilePlace, Place, ServerPlace
from vectormem.errors import StorageFailedError

if TYPE_CHECKING:
    from embedders import Embedder
    from vectormem.origin import Origin
    from vectormem.providers.base import BuiltinProvider
    from vectormem.providers.vector import VectorProvider
    from vectormem.stores.postgres.store import PostgresStore
    from vectormem.stores.sqlite.store import SqliteStore
    from vectormem.sync import BlockingChat, BlockingMemory, BlockingStore, BlockingVectorMemory

    Store: TypeAlias = SqliteStore | PostgresStore


def check_exists(path: Path) -> None:
    """Refuse a missing file, so that commands that read never create one."""
    if path.is_dir():
        raise StorageFailedError(f"{path} is a folder, not a database file")
    if not path.exists():
        raise StorageFailedError(
            f"there is no database {path}; `vectormem add` and `vectormem import` create one, --db names another"
        )


@contextmanager
def opened_store(place: Place, *, create: bool = False, is_lasting: bool = False) -> "Iterator[Store]":
    """Open a database and close it; where there is none yet, only `create` makes it.

    `is_lasting` says that it is used for so long that a server may build indexes meanwhile.
    """
    store: Store
    if isinstance(place, FilePlace):
        from vectormem.stores.sqlite.store import SqliteStore

        if not create:
            check_exists(place.path)
        store = SqliteStore(place.path, key=database_key())
    else:
        assert isinstance(place, ServerPlace)
        from vectormem.stores.postgres.store import PostgresStore

        store = PostgresStore(place.dsn, builds_indexes=is_lasting, creates_tables=create)
    with store:
        yield store


def database_key(variable: str = "VECTORMEM_DB_KEY") -> str | None:
    """Return the encryption key from the environment, which no list of processes shows; None where there is none."""
    return os.environ.get(variable) or None


@contextmanager
def blocking_store(path: Path) -> "Iterator[BlockingStore]":
    """Open a database file that is there, with blocking verbs for it as a whole."""
    from vectormem.stores.sqlite.store import SqliteStore
    from vectormem.sync import blocking

    check_exists(path)
    with SqliteStore(path, key=database_key()) as store:
        yield blocking(store)


def plain_memory(store: "Store") -> "BlockingMemory":
    """Return the items of the store, for what needs no embedder."""
    from vectormem.stores.postgres.store import PostgresStore
    from vectormem.sync import blocking

    memory: BuiltinProvider
    if isinstance(store, PostgresStore):
        from vectormem.providers.postgres import PostgresMemory

        memory = PostgresMemory(store, max_items=None)
    else:
        from vectormem.providers.builtin import SqliteMemory

        memory = SqliteMemory(store, max_items=None)
    return blocking(memory)


def vector_memory(
    store: "Store",
    embedder: "Embedder",
    *,
    max_items: int | None = None,
    min_score: float = 0.2,
    **origin: "Unpack[Origin]",
) -> "BlockingVectorMemory":
    """Return the items of the store with their vectors; without `max_items`, no item is ever dropped."""
    from vectormem.sync import blocking

    return blocking(vector_provider(store, embedder, max_items=max_items, min_score=min_score, **origin))


def vector_provider(
    store: "Store",
    embedder: "Embedder",
    *,
    max_items: int | None = None,
    min_score: float = 0.2,
    **origin: "Unpack[Origin]",
) -> "VectorProvider":
    """Return what `vector_memory` returns, for use in an event loop."""
    from vectormem.stores.postgres.store import PostgresStore

    if isinstance(store, PostgresStore):
        from vectormem.providers.postgres import PostgresVectorMemory

        return PostgresVectorMemory(store, embedder=embedder, max_items=max_items, min_score=min_score, **origin)
    from vectormem.providers.builtin import SqliteVectorMemory

    return SqliteVectorMemory(store, embedder=embedder, max_items=max_items, min_score=min_score, **origin)


def chat_memory(store: "Store", embedder: "Embedder", scope_key: str) -> "BlockingChat":
    """Return the chats of a scope key."""
    from vectormem.chat.storage import ChatStorage
    from vectormem.sync import blocking

    return blocking(ChatStorage(store, embedder=embedder, scope_key=scope_key))
