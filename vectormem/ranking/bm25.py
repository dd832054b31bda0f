"""BM25: how well texts match the words of a query, each word weighing more the rarer it is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.intp]

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.6
_RARE_SHARE = 0.05


class Posting(NamedTuple):
    """The texts that hold a word, by position, and how often each does."""

    positions: Positions
    counts: NDArray[np.int64]


def bm25(postings: Iterable[Posting], lengths: NDArray[np.int64]) -> Scores:
    """Return the score of each text, 0 where it shares no word (Robertson and Zaragoza, 2009).

    `postings` has one entry for each word of the query; `lengths` counts the words of each text.
    """
    scores = np.zeros(len(lengths))
    relative = lengths / max(1.0, float(lengths.mean())) if len(lengths) else scores
    damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative)
    for positions, counts in postings:
        weight = rarity(len(positions), len(lengths)) * (_SATURATION + 1)
        scores[positions] += weight * counts / (counts + damping[positions])
    return scores


def rarity(holding: int, texts: int) -> float:
    """Return the weight of a word that `holding` of the texts hold; it is always above zero."""
    return float(np.log1p((texts - holding + 0.5) / (holding + 0.5)))


def is_rare(holding: int, texts: int) -> bool:
    """Whether a word is held by one text alone or by at most one in twenty."""
    return 0 < holding <= max(1.0, texts * _RARE_SHARE)


def postings_of(texts: Sequence[Mapping[str, int]], wanted: Iterable[str]) -> list[Posting]:
    """Return the postings of the wanted words in texts given as counts of their words."""
    found = []
    for word in wanted:
        positions = [position for position, counts in enumerate(texts) if word in counts]
        counts = [texts[position][word] for position in positions]
        found.append(Posting(np.array(positions, np.intp), np.array(counts, np.int64)))
    return found
