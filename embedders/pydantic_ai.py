"""Embedding models of pydantic-ai."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_texts
from embedders.errors import EmbedderError
from embedders.extras import load_extra
from embedders.protocol import Kind, Vectors


class PydanticAIEmbedder:
    """Embeds with any embedding model of pydantic-ai, or its `Embedder` (extra `pydantic-ai`).

    The caller makes the model, with its own provider, key and settings. The `id` is `<provider>:<model>`,
    followed by the dimensions where the settings ask for them, and by the server where an OpenAI model runs
    on another. Raises ValueError for a name or a language model, EmbedderError where the answer is short.
    """

    max_batch = 96

    def __init__(self, model: object, *, id: str | None = None) -> None:
        library = load_extra("pydantic_ai.embeddings", "pydantic-ai")
        if not isinstance(model, library.EmbeddingModel | library.Embedder):
            raise ValueError(f"model must be an embedding model of pydantic-ai, not {model!r}")
        self._model: Any = model
        self.id = check_id(id) if id is not None else _default_id(model, library.Embedder)

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors, one row a text; `kind` is handed on as the input type."""
        wanted = check_texts(texts)
        if not wanted:
            return np.empty((0, 0), np.float32)
        result = await self._model.embed(wanted, input_type=kind)
        if len(result.embeddings) != len(wanted):
            raise EmbedderError(f"{self.id!r} returned {len(result.embeddings)} vectors for {len(wanted)} texts")
        return unit_rows(np.asarray(result.embeddings, np.float32))

    def __repr__(self) -> str:
        return f"PydanticAIEmbedder(id={self.id!r})"


def _default_id(model: Any, facade: type[Any]) -> str:
    inner = model.model if isinstance(model, facade) else model
    settings = {**(getattr(inner, "settings", None) or {}), **(getattr(model, "_settings", None) or {})}
    length = f":{settings['dimensions']}" if settings.get("dimensions") else ""
    if isinstance(inner, str):
        return f"{inner}{length}"
    host = urlsplit(inner.base_url or "").netloc.rpartition("@")[2]
    server = f"@{host}" if inner.system == "openai" and host and not host.endswith("api.openai.com") else ""
    provider = f"{inner.system}:" if inner.system else ""
    return f"{provider}{inner.model_name}{server}{length}"
