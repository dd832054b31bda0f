"""An embedder made of a plain function."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, cast

from numpy.typing import ArrayLike

from embedders.protocol import Embedder, Kind, Vectors

EmbedFunction: TypeAlias = Callable[[Sequence[str]], ArrayLike | Awaitable[ArrayLike]]


def as_embedder(function: EmbedFunction, *, id: str) -> Embedder:
    """Wrap `function(texts) -> vectors`, sync or async, as an embedder of that `id`.

    A sync function runs in a thread, so that it does not hold up the event loop. A function with a
    parameter `kind` is told "document" or "query". Raises ValueError for a blank id or no function.
    """
    if not callable(function):
        raise ValueError(f"as_embedder needs a function, not {function!r}")
    if not isinstance(id, str) or not id.strip():
        raise ValueError(f"id must be a non-empty string, not {id!r}; it is stored with each vector")
    return _FunctionEmbedder(function, id)


class _FunctionEmbedder:
    def __init__(self, function: EmbedFunction, id: str) -> None:
        self.id = id
        self._function = function
        self._takes_kind = _has_parameter(function, "kind")

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        options = {"kind": kind} if self._takes_kind else {}
        if _is_async(self._function):
            vectors = self._function(texts, **options)
        else:
            vectors = await asyncio.to_thread(self._function, texts, **options)
        if inspect.isawaitable(vectors):
            vectors = await vectors
        return cast("Vectors", vectors)

    def __repr__(self) -> str:
        return f"as_embedder({self._function!r}, id={self.id!r})"


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _has_parameter(function: Callable[..., object], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
