"""Words of a text in any script, folded so that letter case and Unicode form do not matter."""

import re
import unicodedata

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_VARIATION_SELECTORS = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def fold(text: str) -> str:
    """Return `text` in composed form (NFC) and case-folded: STRASSE and straße become equal.

    Variation selectors, which only choose how a character looks, are dropped.
    """
    if text.isascii():
        return text.lower()
    plain = _VARIATION_SELECTORS.sub("", text)
    folded = unicodedata.normalize("NFC", plain).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFC", folded)


def words(text: str) -> list[str]:
    """Return the runs of letters, digits and combining marks of the folded text, in order.

    A run of marks alone, as emoji leave behind, is no word.
    """
    folded = fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    runs = "".join(character if _in_word(character) else " " for character in folded).split()
    return [run for run in runs if any(map(str.isalnum, run))]


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"
