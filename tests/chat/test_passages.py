"""Long messages are cut at sentence ends into passages that overlap."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectormem.chat.passages import context, passages

SENTENCES = [f"Sentence number {place:02} says a thing or two about it, at some length." for place in range(40)]


def spans(text: str) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in passages(text)]


@pytest.mark.parametrize("length", [0, 1, 399, 400])
def test_up_to_400_characters_stay_whole(length: int) -> None:
    text = "x" * length
    assert [tuple(one) for one in passages(text)] == [(0, 0, length, text)]


def test_passages_begin_and_end_with_sentences() -> None:
    for one in passages(" ".join(SENTENCES)):
        assert one.text.startswith("Sentence number")
        assert one.text.endswith("some length.")


def test_a_passage_repeats_the_last_sentence_of_the_one_before() -> None:
    found = passages(" ".join(SENTENCES))
    for before, after in pairwise(found):
        assert before.text[-len(SENTENCES[9]) :] == after.text[: len(SENTENCES[9])]


def test_sentences_end_in_scripts_without_spaces_too() -> None:
    text = "我昨天在市场买了三斤新鲜的苹果。" * 60
    found = passages(text)
    assert len(found) > 2
    assert {one.text[-1] for one in found} == {"。"}
    assert {one.text[:3] for one in found} == {"我昨天"}


def test_an_abbreviation_like_a_decimal_point_ends_no_sentence() -> None:
    text = "It costs 3.5 dollars a piece at the market down the road. " * 12
    assert {one.text.split()[-1] for one in passages(text)} == {"road."}


def test_a_sentence_without_end_is_cut_between_words() -> None:
    text = "word " * 300
    assert {word for one in passages(text) for word in one.text.split()} == {"word"}


def test_a_word_without_end_is_cut_between_characters() -> None:
    family = "👨‍👩‍👧‍👦"
    assert {one.text.replace(family, "") for one in passages(family * 200)} == {""}


def test_short_words_before_an_endless_one_bring_no_standstill() -> None:
    text = "hi " + "x" * 5000 + " bye"
    assert spans(text)[-1][1] == len(text)


@given(st.lists(st.sampled_from(["a", "b ", ". ", "。", "\n", "ä", "👨‍👩‍👧", " ", "word "]), max_size=700).map("".join))
def test_passages_hold_the_whole_text_and_are_short_enough(text: str) -> None:
    found = passages(text)
    assert [one.text for one in found] == [text[one.start : one.end] for one in found]
    assert [one.part for one in found] == list(range(len(found)))
    assert all(len(one.text) <= 400 for one in found)
    covered = {place for one in found for place in range(one.start, one.end)}
    assert "".join(text[place] for place in range(len(text)) if place not in covered).strip() == ""


@given(st.text(max_size=1200))
def test_any_text_can_be_cut(text: str) -> None:
    found = passages(text)
    starts = [one.start for one in found]
    assert starts == sorted(starts)


def test_the_context_of_a_message_is_what_it_answers_and_itself() -> None:
    assert context("Yes, in Paris", "Were you away?").text == "Were you away?\nYes, in Paris"
    assert context("Hello", None).text == "Hello"


def test_of_long_messages_the_context_takes_what_lies_next_to_each_other() -> None:
    assert context("b" * 500, "a" * 500 + "!").text == "a" * 399 + "!\n" + "b" * 400
