"""The embedders that `--embedder` knows, by the word before the first colon."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import typer

from vectormem.cli.stray_output import QuietEmbedder, stray_output_on_stderr
from vectormem.errors import EmbeddingError, MissingExtraError

if TYPE_CHECKING:
    from embedders import Embedder

Load: TypeAlias = "Callable[[], Embedder]"


class EmbedderChoice(NamedTuple):
    """What `--embedder` names; `load` makes the embedder when one is needed."""

    spec: str
    load: Load


class EmbedderKind(NamedTuple):
    """An embedder: how it is written, what it is, and the extra and modules that it needs."""

    grammar: str
    about: str
    parse: Callable[[str | None], Load] | None = None
    extra: str | None = None
    modules: tuple[str, ...] = ()


def _hash(detail: str | None) -> Load:
    if detail is not None and not re.fullmatch("[1-9][0-9]{0,5}", detail):
        raise typer.BadParameter(f"DIMENSIONS of hash:DIMENSIONS is a whole number from 1 to 999999, not {detail!r}")

    def load() -> "Embedder":
        from embedders import HashEmbedder

        return HashEmbedder() if detail is None else HashEmbedder(int(detail))

    return load


def _wordllama(detail: str | None) -> Load:
    if detail not in (None, "64", "128", "256"):
        raise typer.BadParameter(f"DIMENSIONS of wordllama:DIMENSIONS is 64, 128 or 256, not {detail!r}")

    def load() -> "Embedder":
        from embedders import WordLlamaEmbedder

        return WordLlamaEmbedder(int(detail or 256))

    return load


def _static(detail: str | None) -> Load:
    model = _model("static", detail)

    def load() -> "Embedder":
        from embedders import Model2VecEmbedder

        return Model2VecEmbedder(model)

    return load


def _onnx(detail: str | None) -> Load:
    model = _model("onnx", detail)

    def load() -> "Embedder":
        from embedders import OnnxEmbedder

        return OnnxEmbedder(model)

    return load


def _sentence_transformer(detail: str | None) -> Load:
    model = _model("st", detail)

    def load() -> "Embedder":
        from embedders import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(model)

    return load


def _openai(detail: str | None) -> Load:
    model = _model("openai", detail)

    def load() -> "Embedder":
        from embedders import OpenAIEmbedder

        return OpenAIEmbedder(model)

    return load


def _model(kind: str, detail: str | None) -> str:
    if not detail or not detail.strip():
        raise typer.BadParameter(f"{kind}:MODEL needs the name of a model or the path of a folder")
    return detail


KINDS: dict[str, EmbedderKind] = {
    "hash": EmbedderKind("hash[:DIMENSIONS]", "shared words, no model; for tests and demos", _hash),
    "wordllama": EmbedderKind(
        "wordllama[:DIMENSIONS]", "English word vectors inside the package", _wordllama, "wordllama", ("wordllama",)
    ),
    "static": EmbedderKind("static:MODEL", "a static model of model2vec", _static, "model2vec", ("model2vec",)),
    "onnx": EmbedderKind("onnx:MODEL", "a transformer in an ONNX file", _onnx, "onnx", ("onnxruntime", "tokenizers")),
    "st": EmbedderKind(
        "st:MODEL",
        "a sentence-transformers model",
        _sentence_transformer,
        "sentence-transformers",
        ("sentence_transformers",),
    ),
    "openai": EmbedderKind("openai:MODEL", "OpenAI, or the server at OPENAI_BASE_URL", _openai, "openai", ("openai",)),
}

GRAMMAR = ", ".join(kind.grammar for kind in KINDS.values())


def parse_embedder(spec: str) -> EmbedderChoice:
    """Return the embedder that `spec` names, not loaded yet. Raises a usage error for an unknown one."""
    word, colon, detail = spec.partition(":")
    parse = KINDS[word].parse if word in KINDS else None
    if parse is None:
        raise typer.BadParameter(f"there is no embedder {spec!r}; there is: {GRAMMAR}")
    load = parse(detail if colon else None)
    return EmbedderChoice(spec, lambda: _loaded(spec, load))


def _loaded(spec: str, load: Load) -> "Embedder":
    if spec.partition(":")[0] == "hash":  # prints nothing
        return load()
    with _translated(spec), stray_output_on_stderr():
        return QuietEmbedder(load())


@contextmanager
def _translated(spec: str) -> Iterator[None]:
    """Raise EmbeddingError for what an embedder says when it cannot be made."""
    from embedders import EmbedderError

    try:
        yield
    except MissingExtraError:
        raise
    except (EmbedderError, ValueError) as error:
        raise EmbeddingError(f"embedder {spec!r}: {error}") from error
