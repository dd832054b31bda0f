"""Sentence transformers exported to ONNX: as good as with torch, in an eighth of the space."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_positive, check_texts
from embedders.errors import EmbedderError
from embedders.extras import load_extra
from embedders.fingerprint import PROBE, fingerprint, weights_digest
from embedders.loading import load_once, place
from embedders.long_texts import LongTexts, check_long_texts, mean_of_pieces, pieces, warn_of_cut
from embedders.protocol import Kind, Vectors

_EXTRA = "onnx"
_POOLINGS = ("mean", "first")


class OnnxEmbedder:
    """Embeds with a transformer in an ONNX file, in a thread (extra `onnx`).

    `model` is the file, or a folder with `model.onnx` or `onnx/model.onnx`; `tokenizer` its
    `tokenizer.json`, by default the one in the folder. The file must give a vector for each token;
    `pooling` takes their mean or the first. `prompts` are put before queries and documents. Texts are run
    one at a time, which is fastest on a processor and makes a vector independent of its neighbours. Long
    texts are treated as by SentenceTransformerEmbedder. Raises EmbedderError where a file cannot be loaded.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        tokenizer: str | os.PathLike[str] | None = None,
        id: str | None = None,
        pooling: str = "mean",
        max_tokens: int = 256,
        prompts: dict[Kind, str] | None = None,
        long_texts: LongTexts = "cut",
    ) -> None:
        if pooling not in _POOLINGS:
            raise ValueError(f"pooling must be one of {_POOLINGS}, not {pooling!r}")
        self._pooling, self._prompts, self._long_texts = pooling, dict(prompts or {}), check_long_texts(long_texts)
        self._max_tokens = check_positive(max_tokens, "max_tokens")
        runtime, tokenizers = load_extra("onnxruntime", _EXTRA), load_extra("tokenizers", _EXTRA)
        files = _files(Path(model), tokenizer)
        key = (_EXTRA, *(place(str(file)) for file in files))
        self._model = load_once(key, lambda: _Session(runtime, tokenizers, *files))
        self.dimensions = self._model.dimensions
        self.id = check_id(id) if id is not None else self._default_id()

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors of shape (len(texts), dimensions)."""
        return await asyncio.to_thread(self._embed, check_texts(texts), kind)

    def _embed(self, texts: list[str], kind: Kind) -> Vectors:
        prompt = self._prompts.get(kind, "")
        if self._long_texts == "chunk":
            cut = [pieces(text, lambda piece: self._fits(prompt + piece)) for text in texts]
            vectors = self._vectors([prompt + piece for parts in cut for piece in parts])
            return mean_of_pieces(vectors, [len(parts) for parts in cut])
        prompted = [prompt + text for text in texts]
        too_long = sum(not self._fits(text) for text in prompted)
        if too_long:
            warn_of_cut(self.id, too_long, len(texts), self._max_tokens)
        return self._vectors(prompted)

    def _fits(self, text: str) -> bool:
        return len(self._model.tokens(text)) <= self._max_tokens

    def _vectors(self, texts: list[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            states = self._model.states(text, self._max_tokens)
            vector[:] = states[0] if self._pooling == "first" else states.mean(axis=0)
        return unit_rows(vectors)

    def _default_id(self) -> str:
        settings = {"pooling": self._pooling, "max_tokens": self._max_tokens, "prompts": self._prompts}
        chunks = ":chunks" if self._long_texts == "chunk" else ""
        return f"onnx:{fingerprint(model=self._model.digest, **settings)}:{self.dimensions}{chunks}"

    def __repr__(self) -> str:
        return f"OnnxEmbedder(id={self.id!r})"


class _Session:
    """A file that is loaded; safe to use from several threads."""

    def __init__(self, runtime: Any, tokenizers: Any, file: Path, vocabulary: Path) -> None:
        try:
            self._session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
            self._tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._inputs = {one.name for one in self._session.get_inputs()}
            self.dimensions = int(self.states(PROBE, 8).shape[1])
        except Exception as error:
            raise EmbedderError(
                f"the model {str(file)!r} with {str(vocabulary)!r} cannot be loaded: {error}"
            ) from error
        self.digest = weights_digest([("file", file.read_bytes()), ("probe", str(self.tokens(PROBE)).encode())])

    def tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def states(self, text: str, max_tokens: int) -> NDArray[Any]:
        """Return the vectors of the text's first tokens; the closing mark stays the last."""
        ids = self.tokens(text)
        kept = ids if len(ids) <= max_tokens else [*ids[: max_tokens - 1], ids[-1]]
        tokens = np.array([kept], np.int64)
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        states: NDArray[Any] = self._session.run(None, {name: given[name] for name in self._inputs})[0][0]
        return states


def _files(model: Path, tokenizer: str | os.PathLike[str] | None) -> tuple[Path, Path]:
    candidates = [model / "model.onnx", model / "onnx" / "model.onnx"] if model.is_dir() else [model]
    file = next((candidate for candidate in candidates if candidate.is_file()), None)
    if file is None:
        raise EmbedderError(f"there is no ONNX model at {str(model)!r}: neither a file nor a folder with model.onnx")
    vocabulary = Path(tokenizer) if tokenizer is not None else (model if model.is_dir() else model.parent)
    return file, vocabulary / "tokenizer.json" if vocabulary.is_dir() else vocabulary
