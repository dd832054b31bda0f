"""Embedding models of the library sentence-transformers, run in this process."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_positive, check_texts
from embedders.long_texts import LongTexts, check_long_texts, mean_of_pieces, pieces, warn_of_cut
from embedders.protocol import Kind, Vectors
from embedders.torch_model import TorchModel, load_model, loaded_model


class SentenceTransformerEmbedder:
    """Embeds with a sentence-transformers model, in a thread (extra `sentence-transformers`).

    `model` is a name, a folder or a loaded SentenceTransformer; one that is named is loaded once in a
    process, when it is first asked for. Queries and documents get the prompts that the model has for them,
    vectors have unit length. Of a text longer than the model reads, the beginning is embedded and a warning
    logged; with `long_texts="chunk"`, the mean of all of it. The `id` holds a digest of the weights, the
    tokenizer, the prompts and the settings. Raises EmbedderError where the model cannot be loaded.
    """

    def __init__(
        self,
        model: object,
        *,
        id: str | None = None,
        batch_size: int = 64,
        long_texts: LongTexts = "cut",
        revision: str | None = None,
        device: str | None = None,
    ) -> None:
        self._long_texts = check_long_texts(long_texts)
        self._batch_size = check_positive(batch_size, "batch_size")
        self._model = _torch_model(model, revision, device)
        self.dimensions = self._model.dimensions
        self.max_batch = 4 * self._batch_size  # the model sorts what it gets by length
        self.id = check_id(id) if id is not None else self._default_id()

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions)."""
        return await asyncio.to_thread(self._embed, check_texts(texts), kind)

    def _embed(self, texts: list[str], kind: Kind) -> Vectors:
        with self._model.lock:
            if self._long_texts == "chunk":
                cut = [pieces(text, lambda piece: self._model.reads_all_of([piece], kind) == [True]) for text in texts]
                vectors = self._encode([piece for parts in cut for piece in parts], kind)
                return mean_of_pieces(vectors, [len(parts) for parts in cut])
            too_long = self._model.reads_all_of(texts, kind).count(False)
            if too_long:
                warn_of_cut(self.id, too_long, len(texts), self._model.max_tokens)
            return self._encode(texts, kind)

    def _encode(self, texts: list[str], kind: Kind) -> Vectors:
        return unit_rows(self._model.encode(texts, kind, self._batch_size).reshape(len(texts), self.dimensions))

    def _default_id(self) -> str:
        with self._model.lock:
            digest = self._model.fingerprint
        chunks = ":chunks" if self._long_texts == "chunk" else ""
        return f"st:{self._model.name}@{digest}:{self.dimensions}{chunks}"

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder(id={self.id!r})"


def _torch_model(model: Any, revision: str | None, device: str | None) -> TorchModel:
    if isinstance(model, str | os.PathLike):
        return load_model(os.fspath(model), revision, device)
    if revision is not None or device is not None:
        raise ValueError("revision and device are for a model that is named; a loaded one has them already")
    return loaded_model(model)
