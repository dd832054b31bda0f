"""Embedding models of LangChain as embedders, and both kinds for what has to work with and without an event loop."""

from collections.abc import Sequence
from typing import Any

from embedders import Embedder
from embedders.protocol import Kind
from vectormem.adapters.missing import missing_extra
from vectormem.concurrency import run_in_thread
from vectormem.embedding import check_embedder, embed
from vectormem.errors import EmbeddingError
from vectormem.index.array import Matrix
from vectormem.sync import wait_for

try:
    from langchain_core.embeddings import Embeddings
    from langgraph.store.base.embed import ensure_embeddings
except ImportError as error:
    raise missing_extra("langgraph", error) from error

_MODEL_NAMES = ("model", "model_name", "model_id", "deployment")


class LangChainEmbedder:
    """A LangChain embedding model for providers and chats of vectormem.

    `id` is stored with each vector; without one, it is made of the model's class and name. Give one where
    two models have the same class and no name.
    """

    def __init__(self, embeddings: Embeddings, *, id: str | None = None) -> None:
        self.embeddings = embeddings
        self.id = id or _identity(embeddings)

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Any:
        """Return one vector per text, in order, from the model's async methods."""
        if kind == "query":
            return [await self.embeddings.aembed_query(text) for text in texts]
        return await self.embeddings.aembed_documents(list(texts))


class _InThread(LangChainEmbedder):
    """The same by the model's sync methods: a client of its async ones may belong to another event loop."""

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Any:
        return await run_in_thread(self._embed, texts, kind)

    def _embed(self, texts: Sequence[str], kind: Kind) -> Any:
        if kind == "query":
            return [self.embeddings.embed_query(text) for text in texts]
        return self.embeddings.embed_documents(list(texts))


class AnyEmbedder:
    """An embedder or an embedding model of LangChain, called with and without an event loop.

    Both calls return unit vectors, float32 of shape (len(texts), dimensions), and raise EmbeddingError where
    the model fails, or gives another length than `dimensions` where that is not None.
    """

    def __init__(self, model: Any, *, id: str | None = None, dimensions: int | None = None) -> None:
        if callable(getattr(model, "embed", None)) and isinstance(getattr(model, "id", None), str):
            self._embedder: Embedder = check_embedder(model)
            self._blocking_embedder = self._embedder
        else:
            embeddings = ensure_embeddings(model)
            self._embedder = LangChainEmbedder(embeddings, id=id)
            self._blocking_embedder = _InThread(embeddings, id=id)
        self.id = self._embedder.id
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """Embed, and wait for it."""
        return self._checked(wait_for(embed(self._blocking_embedder, texts, kind=kind)))

    async def aembed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """Embed without blocking the event loop."""
        return self._checked(await embed(self._embedder, texts, kind=kind))

    def _checked(self, vectors: Matrix) -> Matrix:
        if len(vectors) and self._dimensions is not None and vectors.shape[1] != self._dimensions:
            raise EmbeddingError(
                f"embedder {self.id!r} returned vectors of {vectors.shape[1]} dimensions, not of {self._dimensions}"
            )
        return vectors


def _identity(embeddings: Embeddings) -> str:
    source = getattr(embeddings, "func", None) or getattr(embeddings, "afunc", None) or embeddings
    named = source if hasattr(source, "__qualname__") else type(source)
    models = (getattr(embeddings, name, None) for name in _MODEL_NAMES)
    model = next((model for model in models if isinstance(model, str)), "")
    return ":".join(filter(None, ("langchain", named.__module__, named.__qualname__, model)))
