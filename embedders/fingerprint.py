"""Short names for what makes a model's vectors: its weights, its tokenizer and its settings."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Buffer: TypeAlias = bytes | memoryview

PROBE = (
    "The QUICK brown fox isn't jumping; it's 1,234.5 km away -- naïve café, STRASSE/straße, İstanbul. "
    "Съешь же ещё этих мягких булок. 東京タワーに行った。안녕하세요 مرحبا नमस्ते 🦊👩‍👩‍👧 foo_bar()\n\tx != y"
)
"""A text that other tokenizers, or other settings of one, cut into other tokens."""


def weights_digest(tensors: Iterable[tuple[str, Buffer]]) -> str:
    """Return a digest of tensors, each (type and shape, bytes), which depends on neither names nor order."""
    return _digest("".join(sorted(_digest(kind.encode(), values) for kind, values in tensors)).encode())


def array_digest(*arrays: NDArray[Any]) -> str:
    """Return a digest of numpy arrays."""
    return weights_digest((f"{array.dtype} {array.shape}", np.ascontiguousarray(array).data) for array in arrays)


def fingerprint(**parts: object) -> str:
    """Return 16 hexadecimal digits that name these parts; each must be plain JSON."""
    return _digest(json.dumps(parts, sort_keys=True).encode())[:16]


def _digest(*parts: Buffer) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
