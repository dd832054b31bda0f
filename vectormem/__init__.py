"""Memory for AI agents: named slots of short texts, found by words or by meaning, embedded in your process."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vectormem import errors as errors  # at once, so that embedders raise its MissingExtraError

if TYPE_CHECKING:
    from vectormem.chat.messages import ConversationSummary, Message, MessageMatch
    from vectormem.chat.storage import ChatStorage
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
    from vectormem.stores.redis import RedisKV
    from vectormem.stores.sqlite.store import SqliteStore
    from vectormem.sync import blocking

__all__ = [
    "ChatStorage",
    "ConversationSummary",
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
    "Message",
    "MessageMatch",
    "MigrationResult",
    "MissingExtraError",
    "Recall",
    "RedisKV",
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

_HOMES = {
    "vectormem.chat.messages": (
        "ConversationSummary",
        "Message",
        "MessageMatch",
    ),
    "vectormem.chat.storage": ("ChatStorage",),
    "vectormem.errors": (
        "EmbeddingError",
        "MemoryInvalidError",
        "MissingExtraError",
        "StorageFailedError",
        "ToolInputError",
        "VectorMemError",
    ),
    "vectormem.items": ("MemoryItem",),
    "vectormem.providers.builtin": (
        "FileMemory",
        "InMemoryMemory",
        "InMemoryVectorMemory",
        "KVMemory",
        "SqliteMemory",
        "SqliteVectorMemory",
    ),
    "vectormem.providers.protocol": (
        "MemoryProvider",
        "UpsertProvider",
    ),
    "vectormem.slots.define": (
        "Expose",
        "MemorySlot",
        "Recall",
        "define_memory",
        "memory_key",
    ),
    "vectormem.slots.load": ("load_memory_slots",),
    "vectormem.slots.migrate": (
        "MigrationResult",
        "migrate_memory_keys",
    ),
    "vectormem.slots.run": ("MemoryRun",),
    "vectormem.slots.scope": (
        "MemoryContext",
        "Scope",
    ),
    "vectormem.slots.tools": ("MemoryTool",),
    "vectormem.stores.redis": ("RedisKV",),
    "vectormem.stores.sqlite.store": ("SqliteStore",),
    "vectormem.sync": ("blocking",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import vectormem` costs next to nothing."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'vectormem' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
