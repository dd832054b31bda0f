"""Terms: the words of a text as ranking counts them, so that the forms of one word meet."""

from functools import cache, lru_cache
from typing import Any

from embedders.words import words
from vectormem.ranking.stop_words import STOP_WORDS
from vectormem.ranking.words import by_script, pairs

_STEM_LETTERS = 6
_ARABIC = "\u0600\u06ff"
_ARABIC_PARTICLES = ("وال", "فال", "بال", "كال")
"""And, so, in and as, written together with the article."""
_HANGUL = "\uac00\ud7a3"


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, as often as they occur.

    English and Arabic words are stemmed, and every word is cut to its first six letters: that brings the
    forms of German, Turkish and other inflected words together about as well as a stemmer of their own.
    Scripts without spaces, and Korean with its glued endings, give single characters and overlapping pairs.
    """
    return [term for word in words(text) for term in _terms_of(word)]


def telling_terms(text: str) -> list[str]:
    """Return the terms of the words that carry meaning; their number is the length of a text."""
    return [term for word in words(text) for term in _terms_of(word) if _tells(word, term)]


def query_terms(text: str) -> list[str]:
    """Return the terms to look for: those of words that carry meaning, or all where there are none.

    Characters of scripts without spaces count in pairs, unless one stands alone.
    """
    found = [(word, term) for word in words(text) for term in _query_terms_of(word)]
    telling = [term for word, term in found if _tells(word, term)]
    return telling or [term for _, term in found]


def _tells(word: str, term: str) -> bool:
    return word not in STOP_WORDS and term not in STOP_WORDS


@lru_cache(maxsize=65_536)
def _terms_of(word: str) -> tuple[str, ...]:
    if word.isascii():
        return (_stem("english", word)[:_STEM_LETTERS],)
    found: list[str] = []
    for by_pairs, part in _parts(word):
        found += [*(part if len(part) > 1 else ()), *pairs(part)] if by_pairs else [_stemmed(part)]
    return tuple(found)


@lru_cache(maxsize=4096)
def _query_terms_of(word: str) -> tuple[str, ...]:
    if word.isascii():
        return _terms_of(word)
    return tuple(term for by_pairs, part in _parts(word) for term in (pairs(part) if by_pairs else [_stemmed(part)]))


def _parts(word: str) -> list[tuple[bool, str]]:
    """Cut a word by script; True marks what is taken by pairs of characters."""
    return [(unspaced or _HANGUL[0] <= part[0] <= _HANGUL[1], part) for unspaced, part in by_script(word)]


def _stemmed(part: str) -> str:
    if _ARABIC[0] <= part[0] <= _ARABIC[1]:
        return _stem("arabic", part[1:] if part.startswith(_ARABIC_PARTICLES) else part)
    return _stem("english", part)[:_STEM_LETTERS] if part.isascii() else part[:_STEM_LETTERS]


def _stem(language: str, word: str) -> str:
    stem: str = _stemmer(language).stemWord(word)
    return stem


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # brings all its languages along, and not every program ranks by words

    return snowballstemmer.stemmer(language)
