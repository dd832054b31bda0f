"""The least score of a vector provider, and scores at their limits."""

import pytest

from vectormem import MemoryInvalidError, blocking
from vectormem.testing import ScriptedEmbedder

KEY = "notes#global"
VECTORS = {
    "query": (1, 0),
    "same": (2, 0),
    "near": (0.6, 0.8),
    "across": (0, 1),
    "behind": (-1, 0),
    "zero": (0, 0),
}


@pytest.fixture
def found(every_vector_place):
    def search(vectors=None, *, query="query", **options):
        """Return what a query finds, with scores, among items of all the other vectors, in their order."""
        embedder = ScriptedEmbedder(vectors or VECTORS, dimensions=2)
        memory = blocking(every_vector_place.open(embedder=embedder, **options))
        memory.add_many(KEY, [text for text in embedder.vectors if text != query])
        return [(item.text, item.score) for item in memory.list(KEY, query=query)]

    return search


def about(*pairs):
    return [(text, pytest.approx(score, abs=1e-6)) for text, score in pairs]


def test_the_default_least_score_is_a_fifth(found):
    assert found() == about(("same", 1), ("near", 0.6))


def test_a_score_equal_to_the_least_one_is_near_enough(found):
    assert found(min_score=0.6) == about(("same", 1), ("near", 0.6))


def test_a_score_above_the_least_one_by_more_than_rounding_is_needed(found):
    assert found(min_score=0.60001) == about(("same", 1))


def test_a_least_score_of_zero_lets_everything_through_that_is_not_opposed(found):
    assert found(min_score=0) == about(("same", 1), ("near", 0.6), ("zero", 0), ("across", 0))


def test_a_least_score_of_minus_one_lets_everything_through(found):
    assert found(min_score=-1) == about(("same", 1), ("near", 0.6), ("zero", 0), ("across", 0), ("behind", -1))


def test_a_least_score_of_one_finds_the_same_direction_only(found):
    vectors = {"query": (0.1, 0.7), "same": (0.3, 2.1), "nearly": (0.1, 0.71)}
    assert found(vectors, min_score=1) == about(("same", 1))


def test_cosines_do_not_depend_on_the_length_of_the_vectors(found):
    vectors = {"query": (30, 40), "same way": (3, 4), "across": (4, -3)}
    assert found(vectors, min_score=0) == about(("same way", 1), ("across", 0))


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1e20, 3e37])
def test_very_small_and_very_large_vectors_are_compared_like_others(found, scale):
    vectors = {"query": (scale, 0), "near": (3 * scale, 4 * scale), "other": (1, 0)}
    assert found(vectors, min_score=0.5) == about(("other", 1), ("near", 0.6))


@pytest.mark.parametrize("min_score", [1.1, -1.1, float("nan"), float("inf"), None, "0.5", True])
def test_a_least_score_that_is_no_cosine_is_refused(every_vector_place, min_score):
    with pytest.raises(MemoryInvalidError, match="min_score"):
        every_vector_place.open(min_score=min_score)
