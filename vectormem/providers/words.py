"""How vector providers rank by words, and by words and meaning together."""

import numpy as np

from vectormem.index.search import TOLERANCE, exact_scores
from vectormem.index.vectors import Wanted
from vectormem.ranking.fusion import WordMatch, fused, highest, match_words, near
from vectormem.stores.rows import Found, Row, Rows, VectorKind, VectorStore

_FEWEST_CANDIDATES = 200
_CANDIDATES_PER_RESULT = 10


async def found_by_words(items: VectorStore, key: str, query: str, limit: int | None) -> list[Row]:
    """Return the rows that share words with the query, best first by BM25."""
    rows = (await items.read(key, lambda rows: rows.newest()))[::-1]
    match = match_words([row.text for row in rows], query)
    return [rows[position] for position in highest(match.scores, match.scores > 0, limit)]


async def found_by_both(items: VectorStore, key: str, query: str, kind: VectorKind, wanted: Wanted) -> Found:
    """Return the rows with the most evidence in words and meaning, with their cosines (NaN: no vector).

    The nearest vectors and the best matches in words are the candidates. Those below the wanted score
    stay only where they share a rare word.
    """
    most = None if wanted.limit is None else max(_FEWEST_CANDIDATES, wanted.limit * _CANDIDATES_PER_RESULT)
    nearest = await items.search(key, kind, wanted._replace(limit=most, min_score=-1.0))
    rows = (await items.read(key, lambda rows: rows.newest()))[::-1]
    match = match_words([row.text for row in rows], query)
    cosines = np.full(len(rows), np.nan)
    place = {row.seq: position for position, row in enumerate(rows)}
    for row, score in nearest.ranked:
        if row.seq in place:
            cosines[place[row.seq]] = score
    by_words = [one for one in highest(match.scores, match.scores > 0, most).tolist() if np.isnan(cosines[one])]
    read = await items.read(key, lambda stored: _cosines(stored, [rows[one] for one in by_words], kind, wanted))
    cosines[by_words] = read
    chosen = np.union1d(np.flatnonzero(~np.isnan(cosines)), np.array(by_words, np.intp))
    best = _best(match, cosines, chosen, wanted)
    return Found([(rows[one], float(cosines[one])) for one in best], nearest.skipped)


def _best(match: WordMatch, cosines: np.ndarray, chosen: np.ndarray, wanted: Wanted) -> list[int]:
    scores = fused(match.scores[chosen], cosines[chosen])
    admitted = near(cosines[chosen], wanted.min_score - TOLERANCE) | match.shares_rare[chosen]
    best: list[int] = chosen[highest(scores, admitted, wanted.limit)].tolist()
    return best


def _cosines(stored: Rows, rows: list[Row], kind: VectorKind, wanted: Wanted) -> list[float]:
    """Return the cosine of each row with the query; NaN where it has no vector of this kind."""
    scores, embeddings = [], stored.embeddings(rows)
    for row in rows:
        found = embeddings.get(row.seq)
        if found is None or (found.embedder, len(found.vector)) != kind:
            scores.append(np.nan)
        else:
            scores.append(float(exact_scores(found.vector[None, :], wanted.query)[0]))
    return scores
