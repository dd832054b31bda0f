"""Patience with file systems on which a virus scanner or indexer has a file open for a moment."""

import errno
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_WAITS = (0.005, 0.010, 0.020, 0.040, 0.080, 0.120, 0.200, 0.300, 0.500)
_TRANSIENT = frozenset({errno.EPERM, errno.EACCES, errno.EBUSY})


def retried(operation: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `operation`, and again for about 1.3 seconds while it fails with EPERM, EACCES or EBUSY."""
    for wait in _WAITS:
        try:
            return operation(*args, **kwargs)
        except OSError as error:
            if error.errno not in _TRANSIENT:
                raise
        time.sleep(wait)
    return operation(*args, **kwargs)
