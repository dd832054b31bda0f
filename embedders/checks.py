"""The rules for what embedders are given, each written once."""

from collections.abc import Sequence


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list, with lone surrogates, which no model knows, replaced by a question mark."""
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"texts must be a sequence of strings, not {texts!r:.100}")
    return [text if text.isascii() else text.encode(errors="replace").decode() for text in texts]


def check_positive(value: object, name: str) -> int:
    """Return a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
    return value


def check_id(value: object) -> str:
    """Return a string that is not blank."""
    return check_name(value, "id", "it is stored with each vector")


def check_name(value: object, name: str, why: str) -> str:
    """Return a string that is not blank; `why` ends the message."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a non-empty string, not {value!r}; {why}")
    return value
