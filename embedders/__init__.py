"""Embedders: what turns texts into vectors. Usable without vectormem."""

from embedders.errors import EmbedderError
from embedders.function import as_embedder
from embedders.hashing import HashEmbedder
from embedders.protocol import Embedder

__all__ = ["Embedder", "EmbedderError", "HashEmbedder", "as_embedder"]
