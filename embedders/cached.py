"""An embedder that remembers what another one answered."""

import asyncio
import hashlib
import inspect
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from embedders.arrays import as_array_like
from embedders.cache_file import SMALLEST, CacheFile
from embedders.checks import check_positive
from embedders.errors import EmbedderError
from embedders.protocol import Embedder, Kind, Vectors

_DEFAULT_BATCH = 96  # where the inner embedder does not say


class CachedEmbedder:
    """Asks `embedder` only for texts whose vectors are not in the file at `path` yet.

    Vectors are kept by the embedder's id, the kind and the text, in float32; several processes may share the
    file, and so may embedders. It is made readable by its owner alone, holds at most `max_bytes`, and forgets what
    was not used for longest. Where it is damaged, locked or full, texts are embedded as if without it.
    `hits` and `misses` count texts. Raises ValueError for a file that is a database of another kind.
    """

    def __init__(self, embedder: Embedder, path: str | os.PathLike[str], *, max_bytes: int = 2**30) -> None:
        if not callable(getattr(embedder, "embed", None)) or not isinstance(getattr(embedder, "id", None), str):
            raise ValueError(f"embedder must have an `id` and an async method `embed`, not {embedder!r}")
        if check_positive(max_bytes, "max_bytes") < SMALLEST:
            raise ValueError(f"max_bytes must be at least {SMALLEST}, not {max_bytes}")
        if os.fspath(path) in ("", ":memory:"):
            raise ValueError(f"path must name a file, not {os.fspath(path)!r}")
        self.embedder = embedder
        self.hits = 0
        self.misses = 0
        self._counting = threading.Lock()
        self._file = CacheFile(Path(path), max_bytes)

    @property
    def id(self) -> str:
        """The id of the inner embedder: its vectors are the same."""
        return self.embedder.id

    @property
    def max_batch(self) -> int:
        """The most texts in one call, as the inner embedder says."""
        return getattr(self.embedder, "max_batch", None) or _DEFAULT_BATCH

    @property
    def dimensions(self) -> int | None:
        """What the inner embedder says."""
        return getattr(self.embedder, "dimensions", None)

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return the inner embedder's vectors; a text that occurs twice is asked for once."""
        keys = [_key(self.id, kind, text) for text in texts]
        rows = _of_one_length(await asyncio.to_thread(self._file.get, set(keys)), self.dimensions)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        with self._counting:
            self.misses += len(missing)
            self.hits += len(keys) - len(missing)
        if missing:
            fresh = await self._ask(list(missing.values()), kind)
            if rows and fresh.shape[1] * 4 != len(next(iter(rows.values()))):
                return await self._ask(list(texts), kind)  # another model under the same id: none is mixed in
            new = {key: row.tobytes() for key, row in zip(missing, fresh, strict=True)}
            if np.isfinite(fresh).all():
                await asyncio.to_thread(self._file.put, new)
            rows |= new
        return _matrix([rows[key] for key in keys], self.dimensions)

    async def forget(self, texts: Sequence[str]) -> int:
        """Delete the vectors of texts from the file, as documents and as queries; return how many there were."""
        keys = {_key(self.id, kind, text) for kind in get_args(Kind) for text in texts}
        return await asyncio.to_thread(self._file.delete, keys)

    async def _ask(self, texts: Sequence[str], kind: Kind) -> Vectors:
        result: Any = self.embedder.embed(texts, kind=kind)
        matrix = np.asarray(as_array_like(await result if inspect.isawaitable(result) else result))
        if matrix.ndim != 2 or len(matrix) != len(texts) or matrix.dtype.kind not in "fiu":
            raise EmbedderError(
                f"embedder {self.id!r} returned {matrix.dtype} of shape {matrix.shape} for {len(texts)} texts"
            )
        return np.ascontiguousarray(matrix, "<f4")

    def __repr__(self) -> str:
        return f"CachedEmbedder({self.embedder!r}, hits={self.hits}, misses={self.misses})"


def _key(embedder_id: str, kind: Kind, text: str) -> bytes:
    parts = (part.encode(errors="surrogatepass") for part in (embedder_id, kind, text))
    return hashlib.blake2b(b"\0".join(len(part).to_bytes(8) + part for part in parts), digest_size=20).digest()


def _of_one_length(rows: dict[bytes, bytes], dimensions: int | None) -> dict[bytes, bytes]:
    """Return the rows where all have one length, that of the embedder if it says one; else none."""
    lengths = {len(row) for row in rows.values()}
    return rows if len(lengths) == 1 and (dimensions is None or lengths == {4 * dimensions}) else {}


def _matrix(rows: Sequence[bytes], dimensions: int | None) -> Vectors:
    if not rows:
        return np.empty((0, dimensions or 0), np.float32)
    return np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), -1).astype(np.float32)
