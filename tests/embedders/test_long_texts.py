"""Cutting long texts into pieces, and the mean of their vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedders.long_texts import check_long_texts, mean_of_pieces, pieces


def at_most(length):
    return lambda piece: len(piece) <= length


def test_a_text_that_fits_is_left_as_it_is():
    assert pieces("  the spare key ", at_most(16)) == ["  the spare key "]


def test_a_long_text_is_cut_at_white_space():
    assert pieces("one two three four five six", at_most(14)) == ["one two three ", "four five six"]


def test_a_text_without_white_space_is_cut_all_the_same():
    assert pieces("a" * 20, at_most(6)) == ["aaaaa"] * 4


def test_pieces_of_white_space_alone_are_left_out():
    assert [piece.strip() for piece in pieces(f"word{' ' * 40}", at_most(10))] == ["word"]


@given(st.text(min_size=1), st.integers(1, 20))
def test_all_that_is_not_white_space_stays_in_order_and_every_piece_fits(text, length):
    cut = pieces(text, at_most(length))
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(len(piece) <= length for piece in cut)


def test_the_vector_of_a_text_is_the_direction_of_the_mean_of_its_pieces():
    vectors = np.array([[1, 0], [0, 1], [0, -1], [0, 1], [0, 1]], np.float32)
    expected = np.array([[np.sqrt(0.5), np.sqrt(0.5)], [0, 1]])
    np.testing.assert_allclose(mean_of_pieces(vectors, [2, 3]), expected, atol=1e-6)


def test_texts_of_one_piece_keep_their_vectors():
    vectors = np.array([[0.6, 0.8], [0, 1]], np.float32)
    assert mean_of_pieces(vectors, [1, 1]) is vectors


@pytest.mark.parametrize("value", ["chop", None, True, ""])
def test_another_way_is_refused(value):
    with pytest.raises(ValueError, match="long_texts"):
        check_long_texts(value)


def test_a_text_that_ends_in_white_space_is_cut_before_its_end():
    assert pieces("0\n", lambda piece: len(piece) <= 1) == ["0"]
