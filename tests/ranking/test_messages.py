"""The evidence for a message: its own, that of its neighbours, and that of its conversation."""

import numpy as np
import pytest

from vectormem.ranking.messages import Messages, asks, best_of_conversation, message_scores, shifted

NAN = float("nan")


def scored(words: list[float], cosines: list[float], conversations: list[int], **given: list) -> list[float]:
    count = len(words)
    messages = Messages(
        np.array(conversations),
        np.array(given.get("lengths", [5] * count)),
        np.array(given.get("asks", [False] * count), bool),
    )
    contexts = np.array(given.get("contexts", [NAN] * count))
    return message_scores(np.array(words), np.array(cosines), contexts, messages).tolist()


def test_scores_move_within_their_conversation_only() -> None:
    scores, conversations = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 2])
    assert shifted(scores, conversations, 1).tolist() == [0, 1, 2, 0]
    assert shifted(scores, conversations, 2).tolist() == [0, 0, 1, 0]
    assert shifted(scores, conversations, -1).tolist() == [2, 3, 0, 0]
    assert shifted(scores, conversations, 9).tolist() == [0, 0, 0, 0]


def test_the_best_of_a_conversation_counts_for_all_of_it() -> None:
    assert best_of_conversation(np.array([1.0, 5.0, 2.0, 7.0]), np.array([3, 3, 4, 9])).tolist() == [5, 5, 2, 7]
    assert best_of_conversation(np.array([]), np.array([])).tolist() == []


def test_a_neighbour_of_a_match_ranks_before_others_of_its_conversation_and_these_before_strangers() -> None:
    scores = scored([0, 6, 0, 0, 0, 0, 0], [0.5] * 7, [1, 1, 1, 1, 1, 2, 2])
    assert scores.index(max(scores)) == 1
    assert scores[2] > scores[4] > scores[5] == scores[6]


def test_words_and_meaning_both_count() -> None:
    both, word, meaning, none = scored([3, 3, 0, 0], [0.9, 0.1, 0.9, 0.1], [1, 2, 3, 4])
    assert both > max(word, meaning)
    assert min(word, meaning) > none


def test_meaning_together_with_what_it_answers_counts() -> None:
    plain, answers = scored([0, 0], [0.5, 0.5], [1, 2], contexts=[0.1, 0.9])
    assert answers > plain


def test_a_question_tells_less_and_a_longer_message_more() -> None:
    asking, telling, longer = scored([1, 1, 1], [0.5] * 3, [1, 2, 3], asks=[True, False, False], lengths=[5, 5, 20])
    assert asking < telling < longer


def test_beyond_forty_words_a_message_tells_no_more_and_a_last_question_no_less() -> None:
    forty, long, asking = scored([1, 1, 1], [0.5] * 3, [1, 2, 3], asks=[False, False, True], lengths=[40, 900, 900])
    assert forty == long == asking


def test_messages_without_vectors_and_without_words_are_ranked_too() -> None:
    assert scored([0, 0], [NAN, NAN], [1, 1]) == pytest.approx([scored([0], [NAN], [1])[0]] * 2)
    assert scored([], [], []) == []


@pytest.mark.parametrize("text", ["Really?", "真的吗？", "حقا؟", 'He said "why?"', "Why? \n"])
def test_a_question_is_known_by_its_end(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["Why? Because.", "", "I see!", "?!"])
def test_what_does_not_end_with_a_question_tells(text: str) -> None:
    assert not asks(text)
