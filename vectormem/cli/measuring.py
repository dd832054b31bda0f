"""How fast an embedder is, and whether its vectors make sense."""

import asyncio
import time
from typing import NamedTuple

import numpy as np

from embedders import Embedder
from vectormem.embedding import embed

_SECONDS = 1.0
_TRIPLES = (
    ("What does the user like to eat?", "Sam is vegetarian", "The office is in Oslo"),
    ("How do I get into the house?", "The spare key is under the blue pot", "The meeting moved to Friday"),
    ("Which pets are there?", "Two cats and an old dog live with them", "The train leaves at nine"),
    ("Is anybody ill?", "Ada has a bad cold and stays in bed", "The invoice was paid last week"),
    ("Where was the holiday?", "They spent August at the beach in Portugal", "The laptop needs a new battery"),
    ("What is her job?", "Maria works as a nurse at the hospital", "It rained the whole weekend"),
    ("When is the birthday?", "He was born on the third of May", "The kitchen was painted green"),
    ("How is the car doing?", "The engine makes a strange noise", "She prefers tea to coffee"),
    ("Any trouble with money?", "They could not pay the rent this month", "The dog likes long walks"),
    ("What music is liked?", "He listens to jazz every evening", "The parcel arrived broken"),
)
"""A question, what answers it without sharing a word, and what does not."""


class Measured(NamedTuple):
    """What was measured; rates are texts a second in calls of one text and of 64, `sanity` is a share."""

    dimensions: int
    rate_of_1: float
    rate_of_64: float
    sanity: float


def measure(embedder: Embedder) -> Measured:
    """Embed a few hundred short texts, for about two seconds."""
    return asyncio.run(_measure(embedder))


async def _measure(embedder: Embedder) -> Measured:
    questions = await embed(embedder, [triple[0] for triple in _TRIPLES], kind="query")
    answers = await embed(embedder, [triple[1] for triple in _TRIPLES])
    others = await embed(embedder, [triple[2] for triple in _TRIPLES])
    right = np.einsum("ij,ij->i", questions, answers) > np.einsum("ij,ij->i", questions, others)
    return Measured(
        dimensions=questions.shape[1],
        rate_of_1=await _rate(embedder, 1),
        rate_of_64=await _rate(embedder, 64),
        sanity=float(right.mean()),
    )


async def _rate(embedder: Embedder, size: int) -> float:
    """Return texts a second; no text occurs twice, so that a cache does not answer."""
    start, done = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < _SECONDS or not done:
        await embed(embedder, [f"Note {done + n}: {_TRIPLES[n % len(_TRIPLES)][1]}, they said." for n in range(size)])
        done += size
    return done / passed
