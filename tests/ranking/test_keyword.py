"""The order of keyword matches."""

from hypothesis import given
from hypothesis import strategies as st

from vectormem.ranking.keyword import rank_by_words
from vectormem.ranking.words import item_words, query_words

VOCABULARY = ["tea", "milk", "user", "likes", "咖啡", "an", "42"]
SENTENCES = st.lists(st.sampled_from(VOCABULARY), max_size=5).map(" ".join)


def test_more_shared_words_come_first_and_equal_ones_keep_their_order():
    texts = ["user likes milk", "tea for the user", "tea of the user's preference", "nothing", "a tea"]
    assert rank_by_words(texts, "user tea preference", None) == [2, 1, 0, 4]


def test_a_word_that_is_said_twice_counts_once():
    assert rank_by_words(["tea tea tea", "tea milk"], "tea milk milk", None) == [1, 0]


def test_a_query_without_words_matches_nothing():
    assert rank_by_words(["tea", "?", "🎉"], "?!", None) == []
    assert rank_by_words(["tea", "❤️"], "❤️", None) == []


def test_a_query_of_short_words_looks_for_them():
    assert rank_by_words(["AI is here", "mail", "a id"], "my ai", None) == [0]


def test_no_texts_match_nothing():
    assert rank_by_words([], "tea", None) == []


@given(st.lists(SENTENCES, max_size=12), SENTENCES, st.none() | st.integers(1, 15))
def test_the_ranking_is_that_of_counting_shared_words_one_by_one(texts, query, limit):
    counts = {position: len(query_words(query) & item_words(text)) for position, text in enumerate(texts)}
    expected = [
        position for most in range(len(VOCABULARY) * 2, 0, -1) for position in counts if counts[position] == most
    ]
    assert rank_by_words(texts, query, limit) == expected[:limit]
