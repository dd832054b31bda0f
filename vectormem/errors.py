"""The one error tree of vectormem.

VectorMemError                 every error that vectormem raises on purpose
├── MemoryInvalidError         a definition, scope, key, item or option is wrong (also a ValueError)
├── StorageFailedError         a lock, file or database failed, or holds a newer format
├── EmbeddingError             the embedder raised or returned something that is no embedding
├── ToolInputError             the model called a tool with arguments that do not fit
└── MissingExtraError          an optional dependency is not installed (also an ImportError)
"""

from typing import ClassVar

from embedders import errors as embedder_errors
from embedders.extras import raise_missing_extras_as


class VectorMemError(Exception):
    """The root of all errors; `code` is stable and meant for programs."""

    code: ClassVar[str] = "VECTORMEM"


class MemoryInvalidError(VectorMemError, ValueError):
    """A definition, scope, key, item or option is not valid; nothing was changed."""

    code = "MEMORY_INVALID"


class StorageFailedError(VectorMemError):
    """The storage could not be read or written; what was stored before is still there."""

    code = "STORAGE_FAILED"


class EmbeddingError(VectorMemError):
    """The embedder failed or returned vectors that cannot be used; nothing was stored."""

    code = "EMBEDDING_FAILED"


class ToolInputError(VectorMemError):
    """A tool was called with arguments that do not match its input schema."""

    code = "TOOL_INPUT_INVALID"


class MissingExtraError(VectorMemError, embedder_errors.MissingExtraError):
    """An optional dependency is missing; the message holds the install line. Embedders raise it too."""

    code = "EXTRA_MISSING"


raise_missing_extras_as(MissingExtraError)
