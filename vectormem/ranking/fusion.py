"""Hybrid ranking: what a text shares in words and in meaning, on one scale and added."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vectormem.ranking.bm25 import Posting, Scores, bm25, is_rare, postings_of
from vectormem.ranking.stop_words import STOP_WORDS
from vectormem.ranking.terms import query_terms, terms

_MEANING_WEIGHT = 0.5
_TEXTS_REMEMBERED = 16_384


class WordMatch(NamedTuple):
    """How texts match the words of a query: a BM25 score each, and whether they share a rare word."""

    scores: Scores
    shares_rare: NDArray[np.bool_]


def match_words(texts: Sequence[str], query: str) -> WordMatch:
    """Return how each text matches the words of the query."""
    counted = list(map(_counted, texts))
    postings = postings_of([counts for counts, _ in counted], dict.fromkeys(query_terms(query)))
    lengths = np.fromiter((length for _, length in counted), np.int64, len(counted))
    return WordMatch(bm25(postings, lengths), share_rare(postings, len(texts)))


def share_rare(postings: Sequence[Posting], texts: int) -> NDArray[np.bool_]:
    """Return which of the texts hold a word that is rare among them."""
    mask = np.zeros(texts, np.bool_)
    for posting in postings:
        if is_rare(len(posting.positions), texts):
            mask[posting.positions] = True
    return mask


def fused(words: Scores, cosines: NDArray[np.float64], weight: float = _MEANING_WEIGHT) -> Scores:
    """Return words and meaning as one score from 0 to 1, `weight` being the share of the meaning.

    Each is spread from its lowest to its highest value among the texts first. A text without a cosine
    (NaN) counts as the least similar one.
    """
    return (1 - weight) * spread(words) + weight * spread(cosines)


def spread(scores: NDArray[np.float64]) -> Scores:
    """Return scores moved and scaled to run from 0 to 1; equal ones are all 0, NaN is 0."""
    known = scores[~np.isnan(scores)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    if high <= low:
        return np.zeros(len(scores))
    return np.nan_to_num((scores - low) / (high - low), nan=0.0)


def near(cosines: NDArray[np.float64], lowest: float) -> NDArray[np.bool_]:
    """Return which cosines reach a threshold; NaN does not."""
    return np.nan_to_num(cosines, nan=-np.inf) >= lowest


def highest(scores: Scores, admitted: NDArray[np.bool_], limit: int | None) -> NDArray[np.intp]:
    """Return the positions of the highest scores, later ones first where they are equal."""
    candidates = np.flatnonzero(admitted)
    ranking = np.lexsort((candidates, scores[candidates]))[::-1]
    return candidates[ranking[:limit]]


@lru_cache(maxsize=_TEXTS_REMEMBERED)
def _counted(text: str) -> tuple[Mapping[str, int], int]:
    """Return how often a text has each of its terms, and how many of them carry meaning."""
    found = terms(text)
    return Counter(found), sum(term not in STOP_WORDS for term in found)
