"""The ranking of messages in chats: their own words and meaning, and what stands around them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vectormem.ranking.bm25 import Scores
from vectormem.ranking.fusion import spread

_MEANING_WEIGHT = 0.6
_CONTEXT_SHARE = 0.5
_NEIGHBOUR_WEIGHTS = ((1, 0.3), (2, 0.3), (-1, 0.2), (-2, 0.1))
_CONVERSATION_WEIGHT = 0.8
_LENGTH_WEIGHT = 0.15
_QUESTION_PENALTY = 0.15
_FEW_WORDS = 40
_QUESTION_MARKS = ("?", "？", "؟")
_AFTER_QUESTION_MARKS = " \t\n\r\"'»”’)]"


class Messages(NamedTuple):
    """What ranking has to know of messages, in the order in which conversations are read."""

    conversations: NDArray[np.int64]
    words: NDArray[np.int64]
    asks: NDArray[np.bool_]


def asks(content: str) -> bool:
    """Whether a message ends with a question."""
    return content.rstrip(_AFTER_QUESTION_MARKS).endswith(_QUESTION_MARKS)


def message_scores(
    words: Scores, cosines: NDArray[np.float64], context_cosines: NDArray[np.float64], messages: Messages
) -> Scores:
    """Return the evidence for each message; all arrays are in the order of `messages`.

    Words: the message's own, and in part those of up to two messages before and after it in its
    conversation, since an answer seldom repeats the words of its question. Meaning: the message by itself
    and together with the one it answers. To both comes the best that its conversation has, since a
    conversation is about few things. A longer message says more, up to 40 words, and one of up to so many
    that ends with a question less.
    """
    conversations = messages.conversations
    own = words / max(float(words.max(initial=0.0)), np.finfo(float).tiny)
    meaning = spread(_mixed(cosines, context_cosines))
    near = own + sum(weight * shifted(own, conversations, step) for step, weight in _NEIGHBOUR_WEIGHTS)
    near = near + _CONVERSATION_WEIGHT * best_of_conversation(own, conversations)
    meaning = meaning + _CONVERSATION_WEIGHT * best_of_conversation(meaning, conversations)
    score: Scores = (1 - _MEANING_WEIGHT) * near + _MEANING_WEIGHT * meaning
    score += _LENGTH_WEIGHT * np.log1p(np.minimum(messages.words, _FEW_WORDS))
    score -= _QUESTION_PENALTY * (messages.asks & (messages.words <= _FEW_WORDS))
    return score


def shifted(scores: Scores, conversations: NDArray[np.int64], step: int) -> Scores:
    """Return the score of the message `step` before each (after it, if negative), 0 beyond its conversation."""
    moved = np.zeros(len(scores))
    if step > 0:
        moved[step:] = np.where(conversations[step:] == conversations[:-step], scores[:-step], 0)
    else:
        moved[:step] = np.where(conversations[:step] == conversations[-step:], scores[-step:], 0)
    return moved


def best_of_conversation(scores: Scores, conversations: NDArray[np.int64]) -> Scores:
    """Return the highest score in each message's conversation."""
    if not len(scores):
        return scores
    starts = np.flatnonzero(np.diff(conversations, prepend=conversations[0] - 1))
    return np.repeat(np.maximum.reduceat(scores, starts), np.diff(starts, append=len(scores)))


def _mixed(cosines: NDArray[np.float64], context_cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    contexts = np.where(np.isnan(context_cosines), cosines, context_cosines)
    mixed: NDArray[np.float64] = (1 - _CONTEXT_SHARE) * cosines + _CONTEXT_SHARE * contexts
    return mixed
