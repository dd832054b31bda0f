"""What goes wrong in an embedder.

EmbedderError            texts could not be turned into vectors, or a model could not be loaded
└── MissingExtraError    an optional dependency is not installed (also an ImportError)

An option that is wrong raises ValueError.
"""

from typing import ClassVar


class EmbedderError(Exception):
    """An embedder could not turn texts into vectors, or could not be made."""


class MissingExtraError(EmbedderError, ImportError):
    """An optional dependency is missing; the message holds the install line."""

    code: ClassVar[str] = "EXTRA_MISSING"
