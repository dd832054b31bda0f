"""The contract between a memory and whatever turns its texts into vectors."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["document", "query"]
Vectors: TypeAlias = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    `id` is stored with each vector, and vectors are compared only under one id: it has to name everything
    that changes them (model, dimensions, prompts). An embedder may also carry `max_batch: int`, the most
    texts it takes in one call (96 where it does not say), and `dimensions: int`.
    """

    @property
    def id(self) -> str:
        """The name that is stored with each vector."""
        ...

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return an array of shape (len(texts), dimensions), row i for text i.

        `kind` says whether the texts are to be stored or to be looked up; models that treat the two alike
        ignore it. Any length of vector is accepted: memories normalise what they store.
        """
        ...
