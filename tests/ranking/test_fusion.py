"""Words and meaning on one scale."""

import numpy as np
import pytest

from vectormem.ranking.fusion import fused, highest, match_words, near, spread

NAN = float("nan")


def test_scores_are_spread_from_zero_to_one() -> None:
    assert spread(np.array([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert spread(np.array([-0.5, NAN, 0.5])).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("equal", [[], [0.7], [0.7, 0.7], [NAN], [NAN, NAN], [0.7, NAN]])
def test_what_differs_in_nothing_tells_nothing(equal: list[float]) -> None:
    assert spread(np.array(equal)).tolist() == [0.0] * len(equal)


def test_words_and_meaning_are_added() -> None:
    assert fused(np.array([0.0, 8.0, 4.0]), np.array([0.2, 0.2, 0.6])).tolist() == [0.0, 0.5, 0.75]
    assert fused(np.array([0.0, 8.0]), np.array([0.6, 0.2]), weight=0.25).tolist() == [0.25, 0.75]


def test_only_what_reaches_the_threshold_is_near() -> None:
    assert near(np.array([0.3, 0.29, NAN, -1.0]), 0.3).tolist() == [True, False, False, False]
    assert near(np.array([NAN, -1.0]), -1.0).tolist() == [False, True]


def test_the_highest_come_first_and_later_ones_among_equals() -> None:
    scores = np.array([1.0, 3.0, 1.0, 2.0, 9.0])
    admitted = np.array([True, True, True, True, False])
    assert highest(scores, admitted, None).tolist() == [1, 3, 2, 0]
    assert highest(scores, admitted, 2).tolist() == [1, 3]


def test_a_text_matches_by_the_forms_of_its_words() -> None:
    texts = ["She hiked up the hill", "We have tea", "hiking boots"] + ["other things"] * 40
    match = match_words(texts, "Where did she go hiking?")
    assert np.flatnonzero(match.scores).tolist() == [0, 2]
    assert np.flatnonzero(match.shares_rare).tolist() == [0, 2]


def test_no_texts_match_nothing() -> None:
    assert match_words([], "tea").scores.tolist() == []
