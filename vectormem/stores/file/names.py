"""File names for keys: different keys get different files, on every file system."""

import hashlib
import re
from urllib.parse import quote, unquote

SUFFIX = ".json"

_UNESCAPED = "-_.!~'()"
_LONGEST_STEM = 180
_DEVICE_NAME = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")


def file_name(scope_key: str) -> str:
    """Return the name of a key's file: percent-encoded in lower case, `A` written as `^a`.

    Upper-case letters, Windows device names, trailing dots and spaces are encoded so that no two keys
    meet on a file system that ignores case or such endings. A name too long is cut and completed by
    `+` and the SHA-256 of the key; no other name holds a `+`.
    """
    stem = _encode(scope_key)
    if len(stem) > _LONGEST_STEM:
        digest = hashlib.sha256(scope_key.encode()).hexdigest()
        stem = f"{stem[: _LONGEST_STEM - len(digest) - 1]}+{digest}"
    return stem + SUFFIX


def legacy_file_name(scope_key: str) -> str:
    """Return the name that earlier programs gave the file: plain percent-encoding, case kept."""
    return quote(scope_key, safe=_UNESCAPED + "*") + SUFFIX


def key_of(name: str) -> str | None:
    """Return the key of a file name, or None where only the file itself can tell."""
    stem = name.removesuffix(SUFFIX)
    if "+" in stem:
        return None
    key = unquote(re.sub(r"\^([a-z])", lambda match: match[1].upper(), stem))
    return key if name in (file_name(key), legacy_file_name(key)) else None


def _encode(scope_key: str) -> str:
    quoted = re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), quote(scope_key, safe=_UNESCAPED))
    stem = re.sub(r"[A-Z]", lambda match: "^" + match[0].lower(), quoted)
    stem = re.sub(r"\.+$", lambda match: "%2e" * len(match[0]), stem)
    if _DEVICE_NAME.match(stem):
        stem = f"%{ord(stem[0]):02x}{stem[1:]}"
    return stem
