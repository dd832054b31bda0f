"""Static embeddings that come inside the package wordllama: nothing to download, nothing to choose."""

import asyncio
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_texts
from embedders.errors import EmbedderError
from embedders.extras import load_extra
from embedders.fingerprint import PROBE, array_digest, fingerprint
from embedders.loading import load_once
from embedders.protocol import Kind, Vectors

_EXTRA = "wordllama"
_DIMENSIONS = (64, 128, 256)
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class WordLlamaEmbedder:
    """Embeds with the word vectors inside the package wordllama, in a thread (extra `wordllama`).

    English, small and fast. `dimensions` is 64, 128 or 256. Texts of any length are embedded in full,
    queries and documents alike; vectors have unit length, and a text without a known token gets the zero
    vector. Raises EmbedderError where the installed package holds other files.
    """

    max_batch = 1024

    def __init__(self, dimensions: int = 256, *, id: str | None = None) -> None:
        if dimensions not in _DIMENSIONS:
            raise ValueError(f"dimensions must be one of {_DIMENSIONS}, not {dimensions!r}")
        self._model = load_once(_EXTRA, _load)
        self.dimensions = dimensions
        self.id = check_id(id) if id is not None else f"wordllama:{self._model.fingerprint}:{dimensions}"

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions); `kind` makes no difference."""
        return await asyncio.to_thread(self._model.encode, check_texts(texts), self.dimensions)

    def __repr__(self) -> str:
        return f"WordLlamaEmbedder({self.dimensions})"


class _WordVectors:
    def __init__(self, table: Vectors, tokenizer: Any) -> None:
        self._table = table
        self._tokenizer = tokenizer
        self.fingerprint = fingerprint(weights=array_digest(table), tokens=self._tokens([PROBE])[0])

    def encode(self, texts: list[str], dimensions: int) -> Vectors:
        means = np.zeros((len(texts), dimensions), np.float32)
        for mean, ids in zip(means, self._tokens(texts), strict=True):
            if ids:
                mean[:] = self._table[ids, :dimensions].mean(axis=0, dtype=np.float64)
        return unit_rows(means)

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [[token for token in encoding.ids if token < len(self._table)] for encoding in encodings]


def _load() -> _WordVectors:
    safetensors, tokenizers = load_extra("safetensors", _EXTRA), load_extra("tokenizers", _EXTRA)
    folder = _package_folder()
    try:
        with safetensors.safe_open(folder / _WEIGHTS, framework="numpy") as weights:
            table = weights.get_tensor("embedding.weight").astype(np.float32)
        return _WordVectors(table, tokenizers.Tokenizer.from_file(str(folder / _TOKENIZER)))
    except Exception as error:
        raise EmbedderError(f"the installed package wordllama holds no such model: {error}") from error


def _package_folder() -> Path:
    """Return where wordllama lies. It is not imported, since it would configure the program's logging."""
    found = importlib.util.find_spec("wordllama")
    origin = found.origin if found is not None else load_extra("wordllama", _EXTRA).__file__
    return Path(str(origin)).parent
