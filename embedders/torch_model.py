"""A SentenceTransformer as the embedder uses it: loaded in silence, named by what it is, one call at a time."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedders.errors import EmbedderError
from embedders.extras import load_extra
from embedders.fingerprint import PROBE, fingerprint, weights_digest
from embedders.loading import load_once, place, wrap_once
from embedders.protocol import Kind

_EXTRA = "sentence-transformers"
_PROMPTS: dict[Kind, tuple[str, ...]] = {"query": ("query",), "document": ("document", "passage", "corpus")}
_SETTINGS = ("pooling_mode", "include_prompt", "activation_function")


class TorchModel:
    """A model with the lock under which it is used: its tokenizer must not be called twice at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.lock = threading.Lock()
        self.dimensions: int = model.get_embedding_dimension() or self.encode([PROBE], "document", 1).shape[1]

    @property
    def max_tokens(self) -> int:
        """The most tokens that the model reads, 0 where it reads all."""
        most = self.model.max_seq_length
        return int(most) if most and most < 1e9 else 0

    @property
    def name(self) -> str:
        """The last part of the name of a public model, or the kind of a model that was read from a folder."""
        config = getattr(self.model.transformers_model, "config", None)
        source = str(getattr(config, "_name_or_path", ""))
        if source and not Path(source).exists():
            return source.rpartition("/")[2]
        return str(getattr(config, "model_type", type(self.model[0]).__name__))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all that makes the vectors. Raises ValueError where the weights cannot be read."""
        weights = list(self.model.parameters())
        if not weights:
            raise ValueError("the weights of this model cannot be read to name it; pass id=..., unique to the model")
        return fingerprint(
            weights=weights_digest((f"{tensor.dtype} {tuple(tensor.shape)}", _bytes_of(tensor)) for tensor in weights),
            tokens=self._tokens([PROBE])[0],
            modules=[_settings(module) for module in self.model],
            max_tokens=self.max_tokens,
            prompts={kind: self._prompt(kind) for kind in _PROMPTS},
        )

    def encode(self, texts: list[str], kind: Kind, batch_size: int) -> NDArray[Any]:
        """Return vectors of unit length as the model makes them."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        encode = self.model.encode_query if kind == "query" else self.model.encode_document
        vectors: NDArray[Any] = encode(
            texts,
            prompt=self._prompt(kind),
            batch_size=batch_size,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return vectors

    def reads_all_of(self, texts: Sequence[str], kind: Kind) -> list[bool]:
        """Tell for each text whether it is read to its end."""
        if not self.max_tokens:
            return [True] * len(texts)
        room = self.max_tokens - self._overhead(kind)
        doubtful = [text for text in texts if len(text.encode(errors="replace")) > room]
        counts = dict(zip(doubtful, map(len, self._tokens(doubtful)), strict=True)) if doubtful else {}
        return [counts.get(text, 0) <= room for text in texts]

    def _overhead(self, kind: Kind) -> int:
        special = getattr(self.model.tokenizer, "num_special_tokens_to_add", lambda: 2)
        prompt = self._prompt(kind)
        return int(special()) + (len(self._tokens([prompt])[0]) if prompt else 0)

    def _prompt(self, kind: Kind) -> str:
        prompts = self.model.prompts
        named = [prompts[name] for name in _PROMPTS[kind] if name in prompts]
        return str((named or [prompts.get(self.model.default_prompt_name)])[0] or "")

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer = self.model.tokenizer
        if hasattr(tokenizer, "encode_batch"):
            return [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        ids: list[list[int]] = tokenizer(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        ).input_ids
        return ids


def load_model(name: str, revision: str | None, device: str | None) -> TorchModel:
    """Return the model of this name or folder; it is loaded once in a process."""
    library = load_extra("sentence_transformers", _EXTRA)
    key = (_EXTRA, place(name), revision, device)
    return load_once(key, partial(_load, library, name, revision, device))


def loaded_model(model: object) -> TorchModel:
    """Return what belongs to a loaded model; the same object for the same model."""
    library = load_extra("sentence_transformers", _EXTRA)
    if not isinstance(model, library.SentenceTransformer):
        raise ValueError(f"model must be a name, a folder or a SentenceTransformer, not {model!r}")
    return wrap_once(model, TorchModel)


def _load(library: Any, name: str, revision: str | None, device: str | None) -> TorchModel:
    with _silence():
        try:
            return TorchModel(library.SentenceTransformer(name, revision=revision, device=device))
        except Exception as error:
            raise EmbedderError(f"the model {name!r} cannot be loaded: {error}") from error


@contextmanager
def _silence() -> Iterator[None]:
    """Keep transformers from drawing bars and printing reports while it loads a model."""
    logging = load_extra("transformers.utils.logging", _EXTRA)
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _bytes_of(tensor: Any) -> memoryview:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    values: NDArray[np.uint8] = flat.view(load_extra("torch", _EXTRA).uint8).numpy()
    return values.data


def _settings(module: Any) -> dict[str, object]:
    config = module.get_config_dict() if hasattr(module, "get_config_dict") else {}
    return {"type": type(module).__name__, **{name: config[name] for name in _SETTINGS if name in config}}
