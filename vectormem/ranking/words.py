"""The words by which items are found, in scripts with and without spaces."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from embedders.words import words

_SHORTEST_WORD = 3
_UNSPACED_SCRIPTS = frozenset({"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})


def item_words(text: str) -> frozenset[str]:
    """Return every word by which an item with this text is found."""
    return frozenset(word for run in words(text) for word in _split(run))


def query_words(text: str) -> frozenset[str]:
    """Return the words to look for: those of three letters or more, or all where there is none.

    Pairs of characters in scripts without spaces count whatever their length.
    """
    runs = [(part, unspaced) for word in words(text) for unspaced, part in by_script(word)]
    found = {word for part, unspaced in runs if unspaced for word in pairs(part)}
    plain = {_singular(part) for part, unspaced in runs if not unspaced}
    long = {word for word in plain if len(word) >= _SHORTEST_WORD}
    return frozenset(found | long or plain)


def _split(word: str) -> list[str]:
    if word.isascii():
        return [_singular(word)]
    parts: list[str] = []
    for unspaced, part in by_script(word):
        parts += [*part, *pairs(part)] if unspaced else [_singular(part)]
    return parts


def by_script(word: str) -> list[tuple[bool, str]]:
    """Cut a word where scripts without spaces begin or end; True marks the parts of such scripts."""
    if word.isascii():
        return [(False, word)]
    return [(unspaced, "".join(part)) for unspaced, part in groupby(word, _is_unspaced)]


def pairs(part: str) -> list[str]:
    """Return the overlapping pairs of characters; a single one stays alone."""
    return [part] if len(part) == 1 else [part[start : start + 2] for start in range(len(part) - 1)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


@lru_cache(maxsize=4096)
def _is_unspaced(character: str) -> bool:
    return not _UNSPACED_SCRIPTS.isdisjoint(re.split("[ -]", unicodedata.name(character, "")))
