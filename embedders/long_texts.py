"""Texts longer than a model reads: told about, or cut into pieces whose vectors are averaged."""

import logging
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from embedders.arrays import unit_rows
from embedders.protocol import Vectors

LongTexts: TypeAlias = Literal["cut", "chunk"]

logger = logging.getLogger("embedders")


def check_long_texts(value: object) -> LongTexts:
    """Return one of the two ways."""
    if value not in get_args(LongTexts):
        raise ValueError(f'long_texts must be "cut" or "chunk", not {value!r}')
    return value  # type: ignore[return-value]  # checked above


def pieces(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Cut a text, at white space near the middle, again and again until every piece fits."""
    if len(text) < 2 or fits(text):
        return [text]
    middle = len(text) // 2
    after_space = max(text.rfind(space, middle // 2, middle + 1) for space in " \n\t") + 1
    cut = after_space if 0 < after_space < len(text) else middle
    halves = [half for half in (text[:cut], text[cut:]) if half.strip()]
    return [piece for half in halves for piece in pieces(half, fits)] or [text[:cut]]


def mean_of_pieces(vectors: Vectors, counts: Sequence[int]) -> Vectors:
    """Return a unit vector for each text, the mean of its `counts[i]` consecutive rows."""
    if len(counts) == len(vectors):
        return vectors
    starts = np.cumsum([0, *counts[:-1]])
    return unit_rows(np.add.reduceat(vectors.astype(np.float64), starts, axis=0))


def warn_of_cut(embedder_id: str, too_long: int, texts: int, max_tokens: int) -> None:
    """Tell how many texts were embedded by their beginning only."""
    logger.warning(
        "embedder %r: %d of %d texts are longer than the %d tokens that it reads and are embedded by their "
        'beginning; long_texts="chunk" embeds all of each',
        embedder_id,
        too_long,
        texts,
        max_tokens,
    )


def warn_of_chunks(embedder_id: str, too_long: int, texts: int, chunks: int) -> None:
    """Tell how many texts were embedded in several chunks."""
    logger.warning(
        "embedder %r: %d of %d texts are too long for one vector; each is the mean of its chunks, %d in all",
        embedder_id,
        too_long,
        texts,
        chunks,
    )
