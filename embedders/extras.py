"""Optional dependencies, imported when an embedder that needs them is made."""

import importlib
import importlib.util
from typing import Any

from embedders.errors import MissingExtraError

_raised: list[type[MissingExtraError]] = [MissingExtraError]


def load_extra(module: str, extra: str) -> Any:
    """Import a module of an extra. Raises MissingExtraError with the install line where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _raised[-1](
            f"this embedder needs the package {module.partition('.')[0]!r} ({error}); "
            f"install it with: pip install 'vectormem[{extra}]'"
        ) from error


def is_installed(module: str) -> bool:
    """Tell whether a top-level module can be found, without importing it."""
    return importlib.util.find_spec(module) is not None


def raise_missing_extras_as(error: type[MissingExtraError]) -> None:
    """Raise this subclass from now on, so that a package above can let users catch its own name."""
    _raised.append(error)
