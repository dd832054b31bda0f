"""What embedding models return, as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedders.protocol import Vectors

_BOOLS = {bool, np.bool_}


def as_array_like(result: object) -> object:
    """Turn what models return into what numpy takes: tensors, generators and nested lists of them."""
    if isinstance(result, np.ndarray):
        return result
    if hasattr(result, "detach"):
        return result.detach().cpu().float().numpy()
    if isinstance(result, str | bytes) or not hasattr(result, "__iter__"):
        return result
    parts = list(result)
    if not _BOOLS.isdisjoint(map(type, parts)):
        raise TypeError("a bool is no number")
    return [as_array_like(part) for part in parts] if parts and hasattr(parts[0], "__iter__") else parts


def unit_rows(matrix: NDArray[Any]) -> Vectors:
    """Return the rows as float32, scaled to length 1; a zero row stays zero."""
    wide = matrix.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(norms == 0, 1, norms)).astype(np.float32)
