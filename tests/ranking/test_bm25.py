"""BM25, compared with its formula written out, and the rule for rare words."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectormem.ranking.bm25 import bm25, is_rare, postings_of, rarity

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), min_size=1, max_size=12)


def written_out(texts: list[list[str]], query: list[str]) -> list[float]:
    average = max(1.0, sum(map(len, texts)) / len(texts))
    scores = []
    for text in texts:
        score = 0.0
        for word in query:
            holding = sum(word in other for other in texts)
            weight = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            count = text.count(word)
            score += weight * count * 2.2 / (count + 1.2 * (0.4 + 0.6 * len(text) / average))
        scores.append(score)
    return scores


@given(texts=TEXTS, query=st.lists(st.sampled_from("abcxyz"), unique=True, max_size=4))
def test_scores_are_those_of_the_formula(texts: list[list[str]], query: list[str]) -> None:
    lengths = np.array(list(map(len, texts)))
    assert bm25(postings_of(list(map(Counter, texts)), query), lengths) == pytest.approx(written_out(texts, query))


def test_a_text_without_a_word_of_the_query_scores_zero_and_one_with_any_more() -> None:
    texts = [["a", "b"], ["a"], ["c"]] * 5
    scores = bm25(postings_of(list(map(Counter, texts)), ["a"]), np.array(list(map(len, texts))))
    assert (scores > 0).tolist() == [True, True, False] * 5


def test_no_texts_give_no_scores() -> None:
    assert bm25([], np.array([], np.int64)).tolist() == []


def test_a_rarer_word_weighs_more_and_none_weighs_nothing() -> None:
    weights = [rarity(holding, 100) for holding in range(1, 101)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


@pytest.mark.parametrize(
    ("holding", "texts", "expected"),
    [(0, 100, False), (1, 2, True), (2, 10, False), (5, 100, True), (6, 100, False), (1, 1, True)],
)
def test_rare_is_one_text_or_one_in_twenty(holding: int, texts: int, expected: bool) -> None:
    assert is_rare(holding, texts) is expected
