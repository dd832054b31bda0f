"""The rules for what embedders are given."""

import pytest

from embedders.checks import check_id, check_positive, check_texts


def test_texts_come_back_as_they_are():
    assert check_texts(("tea", "", "東京 👩‍👩‍👧")) == ["tea", "", "東京 👩‍👩‍👧"]


def test_lone_surrogates_are_replaced():
    assert check_texts(["hi \ud83d there", "\udcff"]) == ["hi ? there", "?"]


@pytest.mark.parametrize("texts", ["tea", [b"tea"], [None], ["tea", 7], [["tea"]]])
def test_what_is_no_sequence_of_strings_is_refused(texts):
    with pytest.raises(ValueError, match="sequence of strings"):
        check_texts(texts)


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1", None])
def test_a_number_is_a_whole_one_of_at_least_one(value):
    with pytest.raises(ValueError, match="count must be a whole number of at least 1"):
        check_positive(value, "count")


@pytest.mark.parametrize("value", ["", " \t", None, 7, b"id"])
def test_an_id_is_a_string_that_is_not_blank(value):
    with pytest.raises(ValueError, match="id must be a non-empty string"):
        check_id(value)
