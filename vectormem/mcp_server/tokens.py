"""Bearer tokens, and whom each of them proves."""

import hashlib
import hmac
import json
import logging
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vectormem.canonical import check_storable
from vectormem.errors import MemoryInvalidError, StorageFailedError
from vectormem.mcp_server.caller import Caller

logger = logging.getLogger("vectormem")

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{16,4096}=*")


class Tokens:
    """Which caller each token proves. Only digests are kept, and no error or log line holds a token.

    Raises MemoryInvalidError for a token that is short or holds other characters than those of RFC 6750,
    and for a principal that is blank.
    """

    def __init__(self, principals: Mapping[str, str | None]) -> None:
        if not principals:
            raise MemoryInvalidError("there is no token: nobody could use the server")
        self._callers = [
            (_digest(_checked_token(token, position)), Caller(_checked_principal(principal, position)))
            for position, (token, principal) in enumerate(principals.items(), 1)
        ]

    @property
    def callers(self) -> list[Caller]:
        """Everyone whom a token proves."""
        return list(dict.fromkeys(caller for _, caller in self._callers))

    def caller(self, token: str) -> Caller | None:
        """Return whom the token proves, or None; the time it takes does not depend on the token."""
        digest, found = _digest(token), None
        for known, caller in self._callers:
            if hmac.compare_digest(known, digest):
                found = caller
        return found


def read_tokens(path: Path) -> Tokens:
    """Read a JSON file of the form `{"token": "principal", ...}`.

    A principal may have several tokens. Warns where other users of the machine may read the file. Raises
    StorageFailedError where it cannot be read, MemoryInvalidError where it is not of that form.
    """
    try:
        text = path.read_text("utf-8")
        mode = stat.S_IMODE(path.stat().st_mode)
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailedError(f"the tokens file {path} cannot be read: {error}") from error
    if os.name == "posix" and mode & 0o077:
        logger.warning("the tokens file %s can be read by other users (mode %o); set it to 600", path, mode)
    try:
        return Tokens(_parsed(text))
    except MemoryInvalidError as error:
        raise MemoryInvalidError(f"the tokens file {path}: {error}") from error


def _parsed(text: str) -> dict[str, str]:
    try:
        document = json.loads(text, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not all(isinstance(one, str) for one in document.values()):
        raise MemoryInvalidError('it must be JSON of the form {"token": "principal", ...}, each token once') from None
    return document


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _checked_token(token: str, position: int) -> str:
    if not _TOKEN.fullmatch(token):
        raise MemoryInvalidError(
            f"token {position} must have at least 16 characters from A-Z a-z 0-9 . _ ~ + / - (and = at its end); "
            "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return token


def _checked_principal(principal: str | None, position: int) -> str | None:
    if principal is None:
        return None
    if not principal.strip():
        raise MemoryInvalidError(f"the principal of token {position} is blank")
    return check_storable(principal, f"the principal of token {position}")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
