"""Long messages are cut into overlapping passages, so that each has a vector of its own."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

import apsw.unicode as segments

from vectormem.stores.chats import CONTEXT_PART, Part

LONGEST = 400
_SHORTEST_CUT = LONGEST // 2
_OVERLAP = 50
_LARGEST_OVERLAP = 100


def passages(text: str) -> list[Part]:
    """Return the passages of a text: itself where it has at most 400 characters.

    A passage ends with a sentence where one ends in its second half, else with a word, else anywhere
    between characters. The next one begins 50 to 100 characters before that end, with a sentence or word
    if it can. Sentences, words and characters are those of Unicode (UAX #29).
    """
    spans = _spans(text) if len(text) > LONGEST else [(0, len(text))]
    return [Part(number, start, end, text[start:end]) for number, (start, end) in enumerate(spans)]


def context(text: str, before: str | None) -> Part:
    """Return a message together with the one that it answers; of long ones, what lies next to each other."""
    own = text[:LONGEST]
    return Part(CONTEXT_PART, 0, len(own), own if before is None else f"{before[-LONGEST:]}\n{own}")


def _spans(text: str) -> list[tuple[int, int]]:
    sentences = _breaks(segments.sentence_next_break, text, 0, len(text))
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > LONGEST:
        last = start + LONGEST
        words = _breaks(segments.word_next_break, text, start, last)
        letters = _breaks(segments.grapheme_next_break, text, start, last)
        end = _latest((sentences, words, letters), start + _SHORTEST_CUT, last)
        spans.append(_trimmed(text, start, end))
        start = _latest((sentences, words, letters), end - _LARGEST_OVERLAP, end - _OVERLAP)
    return [*spans, _trimmed(text, start, len(text))]


def _breaks(next_break: Callable[[str, int], int], text: str, start: int, last: int) -> list[int]:
    """Return where segments end, from `start` on, which is such a place, up to `last` at least."""
    found = [start]
    while found[-1] < last:
        found.append(next_break(text, found[-1]))
    return found


def _latest(choices: Sequence[Sequence[int]], low: int, high: int) -> int:
    """Return the latest break from `low` to `high` of the first kind that has one there, else `high`."""
    for breaks in choices:
        place = bisect_right(breaks, high) - 1
        if place >= 0 and breaks[place] >= low:
            return breaks[place]
    return high


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the white space at its ends, unless it has nothing else."""
    span = text[start:end]
    inner = span.strip()
    first = start + len(span) - len(span.lstrip())
    return (first, first + len(inner)) if inner else (start, end)
