"""The error of an adapter whose framework is not installed."""

from vectormem.errors import MissingExtraError


def missing_extra(extra: str, error: ImportError) -> MissingExtraError:
    """Return the error to raise where importing the framework of an extra failed."""
    return MissingExtraError(f"{error}; install what this adapter needs with: pip install 'vectormem[{extra}]'")
