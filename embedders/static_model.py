"""Static embeddings: the mean of the vectors of a text's tokens. Fast, small, and without torch."""

import asyncio
import os
import threading
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_texts
from embedders.errors import EmbedderError
from embedders.extras import load_extra
from embedders.fingerprint import PROBE, array_digest, fingerprint
from embedders.loading import load_once, place, wrap_once
from embedders.protocol import Kind, Vectors

_EXTRA = "model2vec"


class Model2VecEmbedder:
    """Embeds with a static model of the library model2vec, in a thread (extra `model2vec`).

    `model` is a name, a folder or a loaded StaticModel; one that is named is loaded once in a process. Texts
    of any length are embedded in full, queries and documents alike; vectors have unit length. A text of which
    the model knows no token gets the zero vector. The `id` holds a digest of the weights and the tokenizer.
    Raises EmbedderError where the model cannot be loaded.
    """

    max_batch = 1024

    def __init__(self, model: object, *, id: str | None = None) -> None:
        self._model = _shared(model)
        self.dimensions = self._model.dimensions
        self.id = check_id(id) if id is not None else f"static:{self._model.fingerprint}:{self.dimensions}"

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions); `kind` makes no difference."""
        return await asyncio.to_thread(self._model.encode, check_texts(texts))

    def __repr__(self) -> str:
        return f"Model2VecEmbedder(id={self.id!r})"


class _SharedStaticModel:
    """A model with the lock under which it is used: encoding sets and resets its tokenizer's truncation."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._lock = threading.Lock()
        self.dimensions = int(model.dim)

    @cached_property
    def fingerprint(self) -> str:
        model = self._model
        arrays = [array for array in (model.embedding, model.weights, model.token_mapping) if array is not None]
        with self._lock:
            return fingerprint(weights=array_digest(*arrays), tokens=model.tokenize([PROBE])[0])

    def encode(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        with self._lock:
            vectors = self._model.encode(texts, max_length=None, show_progress_bar=False, use_multiprocessing=False)
        return unit_rows(np.asarray(vectors))


def _shared(model: object) -> _SharedStaticModel:
    library = load_extra("model2vec", _EXTRA)
    if isinstance(model, library.StaticModel):
        return wrap_once(model, _SharedStaticModel)
    if not isinstance(model, str | os.PathLike):
        raise ValueError(f"model must be a name, a folder or a StaticModel, not {model!r}")
    name = os.fspath(model)
    return load_once((_EXTRA, place(name)), partial(_load, library, name))


def _load(library: Any, name: str) -> _SharedStaticModel:
    try:
        path = Path(name) if Path(name).exists() else name
        return _SharedStaticModel(library.StaticModel.from_pretrained(path, force_download=False))
    except Exception as error:
        raise EmbedderError(f"the model {name!r} cannot be loaded: {error}") from error
