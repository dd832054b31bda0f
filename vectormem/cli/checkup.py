"""The checks of `doctor`: what a database file holds, what is wrong with it, and what to do about it."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import apsw

from vectormem.cli.inspection import VectorCount, key_counts, sqlite_tables, vector_counts
from vectormem.cli.output import counted
from vectormem.stores.sqlite.connection import open_untouched
from vectormem.stores.sqlite.encryption import Secret, why_unreadable
from vectormem.stores.sqlite.schema import MIGRATIONS

if TYPE_CHECKING:
    from vectormem.stores.chat_rows import Database

_MOST_MESSAGES = 10
_SALVAGE = "restore a copy, or `vectormem export --all-keys` what can be read and `import` that into a new file"


class Level(StrEnum):
    """Whether something has to be done."""

    PROBLEM = "problem"
    NOTE = "note"


class Finding(NamedTuple):
    """What a check found, and what to do about it."""

    level: Level
    check: str
    message: str
    advice: str


@dataclass
class Checkup:
    """What a database holds, and the findings on it."""

    shown: str
    schema_version: int | None = None
    current_schema_version: int = len(MIGRATIONS)
    keys: int = 0
    items: int = 0
    vectors: list[VectorCount] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def without_vector(self) -> int:
        """The number of items that no embedder has embedded."""
        return self.items - sum(count.vectors for count in self.vectors)

    @property
    def is_sound(self) -> bool:
        """Whether no problem was found."""
        return all(finding.level is not Level.PROBLEM for finding in self.findings)


def examine(path: Path, *, key: str | None, reindex: str, secret: Secret | None = None) -> Checkup:
    """Check a file without changing or creating anything; `reindex` is the command to advise.

    With `key`, items and vectors are counted in that key only.
    """
    checkup = Checkup(str(path))
    checkup.findings += _check_mode(path)
    try:
        with closing(open_untouched(path, secret)) as connection:
            connection.execute("BEGIN")
            _examine_tables(connection, checkup, key, reindex)
    except apsw.NotADBError:
        advice = "check the path and the key, or restore a copy"
        checkup.findings.append(problem("sqlite", f"it {why_unreadable(str(path), secret)}", advice))
    except apsw.Error as error:
        checkup.findings.append(problem("sqlite", f"it cannot be read: {error}", _SALVAGE))
    return checkup


def _examine_tables(connection: apsw.Connection, checkup: Checkup, key: str | None, reindex: str) -> None:
    version = checkup.schema_version = int(connection.execute("PRAGMA user_version").get)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    checkup.findings += _check_integrity(connection)
    checkup.findings += _check_schema(version, names)
    if version > len(MIGRATIONS) or "memory_items" not in names:
        return
    tables = sqlite_tables(connection)
    checkup.findings += [*_check_orphans(connection), *check_counters(tables.database)]
    counts = key_counts(tables, key)
    checkup.keys, checkup.items = len(counts), sum(count.items for count in counts)
    if "memory_vectors" in names:
        checkup.vectors = vector_counts(tables, key)
        checkup.findings += [*_check_lengths(connection), *check_coverage(checkup, reindex)]


def _check_mode(path: Path) -> Iterator[Finding]:
    if os.name != "posix":
        return
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if file.exists() and (mode := stat.S_IMODE(file.stat().st_mode)) & 0o077:
            message = f"other users may use {file}: its mode is {mode:04o}, not 0600"
            yield problem("mode", message, f"chmod 600 {file}")


def _check_integrity(connection: apsw.Connection) -> Iterator[Finding]:
    for (message,) in connection.execute(f"PRAGMA integrity_check({_MOST_MESSAGES})"):
        if message != "ok":
            yield problem("integrity", f"the file is damaged: {message}", _SALVAGE)


def _check_schema(version: int, tables: set[str]) -> Iterator[Finding]:
    known = len(MIGRATIONS)
    if version > known:
        message = f"schema version {version} is newer than {known}, the newest known here"
        yield problem("schema", message, "upgrade vectormem")
    elif "memory_items" not in tables:
        advice = "check the path; `vectormem add` would put them into this file"
        yield problem("schema", "it is a SQLite database without vectormem's tables", advice)
    elif version < known:
        message = f"schema version {version} is older than {known}"
        yield Finding(
            Level.NOTE,
            "schema",
            message,
            "nothing: the next command that opens the file brings it up to date",
        )


def _check_orphans(connection: apsw.Connection) -> Iterator[Finding]:
    found: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        found[table, parent] = found.get((table, parent), 0) + 1
    for (table, parent), count in found.items():
        belong = "belongs" if count == 1 else "belong"
        yield problem("orphans", f"{counted(count, 'row')} of {table} {belong} to no row of {parent}", _SALVAGE)


def check_counters(database: "Database") -> Iterator[Finding]:
    """Compare the counters of the keys with their items."""
    differing = database.query(
        "SELECT k.key, k.items, count(i.seq), k.last_seq, max(i.seq) FROM memory_keys AS k"
        " LEFT JOIN memory_items AS i ON i.key_id=k.id GROUP BY k.id, k.key, k.items, k.last_seq"
        " HAVING k.items<>count(i.seq) OR k.last_seq<max(i.seq) ORDER BY k.key"
    )
    for key, items, rows, last, highest in differing:
        message = f"key {key!r} counts {items} items up to number {last}; there are {rows}, up to {highest}"
        yield problem("counts", message, _SALVAGE)


def _check_lengths(connection: apsw.Connection) -> Iterator[Finding]:
    broken = connection.execute("SELECT count(*) FROM memory_vectors WHERE length(embedding) % 4 OR embedding=x''").get
    if broken:
        yield problem("vectors", f"{broken} vectors are no whole number of float32 values", _SALVAGE)


def check_coverage(checkup: Checkup, reindex: str) -> Iterator[Finding]:
    """Look for items that a search passes over."""
    if checkup.without_vector > 0:
        message = f"{counted(checkup.without_vector, 'item')} without a vector, which a search by meaning passes over"
        yield Finding(Level.NOTE, "vectors", message, f"if they are to be found by meaning: {reindex}")
    kinds: dict[str, int] = {}
    for count in checkup.vectors:
        kinds[count.key] = kinds.get(count.key, 0) + 1
    if mixed := sorted(key for key, number in kinds.items() if number > 1):
        named = ", ".join(map(repr, mixed[:_MOST_MESSAGES]))
        message = f"{len(mixed)} keys hold vectors of several embedders, and a search compares those of one: {named}"
        yield Finding(Level.NOTE, "vectors", message, f"with the embedder in use: {reindex}")


def problem(check: str, message: str, advice: str) -> Finding:
    """Return a finding that has to be dealt with."""
    return Finding(Level.PROBLEM, check, message, advice)
