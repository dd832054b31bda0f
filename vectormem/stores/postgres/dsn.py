"""The address of a database, and what may be shown of it: never the password."""

import re
from typing import NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict

from vectormem.errors import MemoryInvalidError

_EXPECTED = (
    "the DSN of a PostgresStore must be like postgresql://user:password@host:5432/database (or `host=... dbname=...`); "
    "write special characters of a password as %XX, such as %40 for @ and %2F for /"
)


class Address(NamedTuple):
    """The options of a connection, and the address as errors show it."""

    options: dict[str, str]
    shown: str


def parse_dsn(dsn: object) -> Address:
    """Return the parts of a DSN. What cannot be told from a password is in no message."""
    if not isinstance(dsn, str) or not dsn.strip():
        raise MemoryInvalidError(f"{_EXPECTED}, not {type(dsn).__name__}")
    try:
        options = {name: str(value) for name, value in conninfo_to_dict(dsn).items() if value is not None}
    except (psycopg.Error, ValueError):
        options = {}
    if not options or not _is_plausible(options):
        raise MemoryInvalidError(f"{_EXPECTED}; the one given cannot be read")
    return Address(options, _shown(options))


def _is_plausible(options: dict[str, str]) -> bool:
    """Whether no part of a password with special characters ended up in another field."""
    named = (options.get(name, "") for name in ("dbname", "user"))
    hosts = options.get("host", "").split(",")
    is_clean = not any("@" in host[1:] or ":" in host[:1] for host in hosts) and not any("@" in one for one in named)
    return is_clean and re.fullmatch(r"[\d,]*", options.get("port", "")) is not None


def _shown(options: dict[str, str]) -> str:
    user = f"{options['user']}@" if "user" in options else ""
    port = f":{options['port']}" if "port" in options else ""
    return f"postgresql://{user}{options.get('host', '')}{port}/{options.get('dbname', '')}"
