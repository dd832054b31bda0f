"""STS-B: how well cosines rank pairs of sentences as people do."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedders import Embedder
from vectormem.embedding import embed


def files(data: Path) -> Iterator[tuple[str, Path]]:
    """Yield the languages that there are, with their files of (sentence, sentence, score)."""
    for path in sorted((data / "stsb").glob("stsb-*-test.csv")):
        yield path.name.split("-")[1], path


async def spearman(embedder: Embedder, path: Path) -> float:
    """Return the rank correlation between cosines and scores, from -1 to 1."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    one, two = [await embed(embedder, [row[side] for row in rows]) for side in (0, 1)]
    cosines = np.einsum("ij,ij->i", one, two)
    scores = np.array([float(row[2]) for row in rows])
    return round(float(np.corrcoef(_ranks(cosines), _ranks(scores))[0, 1]), 4)


def _ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return ranks, the mean of their places for equal values."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]
