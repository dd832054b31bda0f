"""Vectors for the tests of the engine: an embedder that looks them up, and the plain answer to a query."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Lookup:
    """Embeds the text "7" as row 7 of a table; a query "q3" as row 3 of the queries."""

    def __init__(self, table: NDArray[np.float32], queries: NDArray[np.float32], id: str = "lookup") -> None:
        self.id = id
        self.table = table
        self.queries = queries
        self.calls = 0

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> NDArray[np.float32]:
        self.calls += 1
        return np.stack([self.queries[int(t[1:])] if t.startswith("q") else self.table[int(t)] for t in texts])


def clustered(
    seed: int, count: int, queries: int, dimensions: int, clusters: int = 20
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return stored vectors and queries around the same few centres, as text embeddings lie."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(clusters, dimensions)) + 0.3
    total = count + queries
    noise = random.normal(size=(total, dimensions)) * 0.7
    made = (centres[random.integers(clusters, size=total)] + noise).astype(np.float32)
    return made[:count], made[count:]


def plain_answer(
    stored: Sequence[tuple[int, str]], embedder: Lookup, query: str, limit: int | None, min_score: float
) -> list[tuple[str, float]]:
    """Return texts with cosines, best first and newer first among equals; `stored` is (order, text)."""
    q = embedder.queries[int(query[1:])].astype(np.float64)
    scored = []
    for place, text in stored:
        v = embedder.table[int(text)].astype(np.float64)
        norm = float(np.sqrt(v @ v) * np.sqrt(q @ q))
        score = float(v @ q) / norm if norm else 0.0
        if q.any() and score >= min_score - 1e-6:
            scored.append((text, score, place))
    scored.sort(key=lambda one: (-round(one[1], 6), -one[2]))
    return [(text, score) for text, score, _ in scored[:limit]]
