"""Embedders: what turns texts into vectors. Usable without vectormem."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embedders.cached import CachedEmbedder
    from embedders.errors import EmbedderError, MissingExtraError
    from embedders.function import as_embedder
    from embedders.hashing import HashEmbedder
    from embedders.litellm import LiteLLMEmbedder
    from embedders.onnx_model import OnnxEmbedder
    from embedders.openai_embedder import OpenAIEmbedder
    from embedders.protocol import Embedder
    from embedders.pydantic_ai import PydanticAIEmbedder
    from embedders.sentence_transformer import SentenceTransformerEmbedder
    from embedders.static_model import Model2VecEmbedder
    from embedders.wordllama import WordLlamaEmbedder

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "EmbedderError",
    "HashEmbedder",
    "LiteLLMEmbedder",
    "MissingExtraError",
    "Model2VecEmbedder",
    "OnnxEmbedder",
    "OpenAIEmbedder",
    "PydanticAIEmbedder",
    "SentenceTransformerEmbedder",
    "WordLlamaEmbedder",
    "as_embedder",
]

_HOME_OF = {
    "CachedEmbedder": "embedders.cached",
    "Embedder": "embedders.protocol",
    "EmbedderError": "embedders.errors",
    "HashEmbedder": "embedders.hashing",
    "LiteLLMEmbedder": "embedders.litellm",
    "MissingExtraError": "embedders.errors",
    "Model2VecEmbedder": "embedders.static_model",
    "OnnxEmbedder": "embedders.onnx_model",
    "OpenAIEmbedder": "embedders.openai_embedder",
    "PydanticAIEmbedder": "embedders.pydantic_ai",
    "SentenceTransformerEmbedder": "embedders.sentence_transformer",
    "WordLlamaEmbedder": "embedders.wordllama",
    "as_embedder": "embedders.function",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import embedders` costs next to nothing."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'embedders' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
