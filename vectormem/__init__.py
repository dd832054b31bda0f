"""Memory for AI agents: named slots of short texts, found by words or by meaning, embedded in your process."""

from vectormem.blocking import blocking
from vectormem.errors import (
    EmbeddingError,
    MemoryInvalidError,
    MissingExtraError,
    StorageFailedError,
    ToolInputError,
    VectorMemError,
)
from vectormem.items import MemoryItem
from vectormem.providers.builtin import (
    FileMemory,
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    SqliteMemory,
    SqliteVectorMemory,
)
from vectormem.providers.protocol import MemoryProvider, UpsertProvider
from vectormem.slots.define import Expose, MemorySlot, Recall, define_memory, memory_key
from vectormem.slots.load import load_memory_slots
from vectormem.slots.migrate import MigrationResult, migrate_memory_keys
from vectormem.slots.run import MemoryRun
from vectormem.slots.scope import MemoryContext, Scope
from vectormem.slots.tools import MemoryTool
from vectormem.stores.sqlite.store import SqliteStore

__all__ = [
    "EmbeddingError",
    "Expose",
    "FileMemory",
    "InMemoryMemory",
    "InMemoryVectorMemory",
    "KVMemory",
    "MemoryContext",
    "MemoryInvalidError",
    "MemoryItem",
    "MemoryProvider",
    "MemoryRun",
    "MemorySlot",
    "MemoryTool",
    "MigrationResult",
    "MissingExtraError",
    "Recall",
    "Scope",
    "SqliteMemory",
    "SqliteStore",
    "SqliteVectorMemory",
    "StorageFailedError",
    "ToolInputError",
    "UpsertProvider",
    "VectorMemError",
    "blocking",
    "define_memory",
    "load_memory_slots",
    "memory_key",
    "migrate_memory_keys",
]
