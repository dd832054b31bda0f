"""The embedders that `--embedder` knows, by the word before the first colon."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import typer

if TYPE_CHECKING:
    from embedders import Embedder

Load: TypeAlias = "Callable[[], Embedder]"


class EmbedderChoice(NamedTuple):
    """What `--embedder` names; `load` makes the embedder when one is needed."""

    spec: str
    load: Load


def _hash(detail: str | None) -> Load:
    if detail is not None and not re.fullmatch("[1-9][0-9]{0,5}", detail):
        raise typer.BadParameter(f"DIMENSIONS of hash:DIMENSIONS is a whole number from 1 to 999999, not {detail!r}")

    def load() -> "Embedder":
        from embedders import HashEmbedder

        return HashEmbedder() if detail is None else HashEmbedder(int(detail))

    return load


_KINDS: dict[str, tuple[str, Callable[[str | None], Load]]] = {
    "hash": ("hash[:DIMENSIONS]", _hash),
}

GRAMMAR = ", ".join(grammar for grammar, _ in _KINDS.values())


def parse_embedder(spec: str) -> EmbedderChoice:
    """Return the embedder that `spec` names, not loaded yet. Raises a usage error for an unknown one."""
    kind, colon, detail = spec.partition(":")
    if kind not in _KINDS:
        raise typer.BadParameter(f"there is no embedder {spec!r}; there is: {GRAMMAR}")
    return EmbedderChoice(spec, _KINDS[kind][1](detail if colon else None))
