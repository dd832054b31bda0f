"""JSON in the one form that is stored and compared."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from pydantic import JsonValue

from vectormem.errors import MemoryInvalidError

_MAX_DEPTH = 100


def canonical_json(value: JsonValue) -> str:
    """Return `value` as JSON with sorted keys, no spaces, and non-ASCII text kept."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def field_values(metadata: Mapping[str, Any], fields: Sequence[str]) -> str:
    """Return the values of these fields in comparable form; an absent field counts as null."""
    return canonical_json([metadata.get(field) for field in fields])


def parse_json(text: str) -> Any:
    """Parse JSON strictly: `NaN` and `Infinity` are refused, as JSON does. Raises ValueError."""
    return json.loads(text, parse_constant=_refuse_constant)


def check_storable(text: str, what: str) -> str:
    """Return `text`; refuse what some store cannot hold: NUL and lone surrogates."""
    if "\0" in text:
        raise MemoryInvalidError(f"{what} contains a NUL character (U+0000); remove it")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise MemoryInvalidError(
                f"{what} contains the lone surrogate {text[error.start]!a}; it is not valid Unicode text"
            ) from error
    return text


def check_json(value: object, what: str) -> None:
    """Refuse what JSON cannot hold: other types, NaN, infinity, vast numbers, more than 100 levels."""
    _check_json(value, what, 0, _any_text)
    try:
        json.dumps(value, default=_plain)
    except ValueError as error:
        raise MemoryInvalidError(f"{what} cannot be written as JSON: {error}") from error


def encode_metadata(metadata: Mapping[str, JsonValue] | None) -> str | None:
    """Check that `metadata` is plain JSON and return it as text; None stays None."""
    return None if metadata is None else encode_object(metadata, "metadata")


def encode_object(value: Mapping[str, JsonValue], what: str) -> str:
    """Check that `value` is a plain JSON object and return it as text; errors call it `what`."""
    if not isinstance(value, Mapping):
        raise MemoryInvalidError(f"{what} must be a mapping or None, not {type(value).__name__}")
    _check_json(value, what, 0, check_storable)
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=_plain)
    except ValueError as error:
        raise MemoryInvalidError(f"{what} cannot be written as JSON: {error}") from error


def _check_json(value: object, where: str, depth: int, check_text: Callable[[str, str], str]) -> None:
    if depth > _MAX_DEPTH:
        raise MemoryInvalidError(f"{where} is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, str):
        check_text(value, where)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MemoryInvalidError(f"{where} is {value}; JSON has no NaN or infinity")
    elif isinstance(value, Mapping):
        _check_members(value, where, depth, check_text)
    elif isinstance(value, list | tuple):
        for position, member in enumerate(value):
            _check_json(member, f"{where}[{position}]", depth + 1, check_text)
    elif value is not None and not isinstance(value, int):
        raise MemoryInvalidError(
            f"{where} is a {type(value).__name__}, which JSON cannot hold; convert it to a string or number"
        )


def _check_members(
    value: Mapping[object, object], where: str, depth: int, check_text: Callable[[str, str], str]
) -> None:
    for key, member in value.items():
        if not isinstance(key, str):
            raise MemoryInvalidError(f"{where} has the key {key!r}; keys must be strings")
        check_text(key, f"a key of {where}")
        _check_json(member, f"{where}[{key!r}]", depth + 1, check_text)


def _any_text(text: str, _: str) -> str:
    return text


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise MemoryInvalidError(f"a {type(value).__name__} cannot be held by JSON")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
