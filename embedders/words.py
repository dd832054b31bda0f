"""Words of a text in any script, folded so that letter case and Unicode form do not matter."""

import re
import unicodedata

_ASCII_WORD = re.compile(r"[a-z0-9]+")


def fold(text: str) -> str:
    """Return `text` in composed form (NFC) and case-folded: STRASSE and straße become equal."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFC", folded)


def words(text: str) -> list[str]:
    """Return the runs of letters, digits and combining marks of the folded text, in order."""
    folded = fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    return "".join(character if _in_word(character) else " " for character in folded).split()


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"
