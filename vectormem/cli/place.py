"""Where a database is, as `--db` names it: a file, or a server by its DSN."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import typer


class Place(ABC):
    """A `FilePlace` or a `ServerPlace`."""

    @property
    @abstractmethod
    def shown(self) -> str:
        """The address as it may be shown."""


@dataclass(frozen=True)
class FilePlace(Place):
    """A database file."""

    path: Path

    @property
    def shown(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class ServerPlace(Place):
    """A database on a Postgres server. Its DSN may hold a password, and is never shown."""

    dsn: str = field(repr=False)

    @property
    def shown(self) -> str:
        from vectormem.stores.postgres.store import check_extra

        check_extra()
        from vectormem.stores.postgres.dsn import parse_dsn

        return parse_dsn(self.dsn).shown


def parse_place(given: str) -> Place:
    """Return where the database is. Raises a usage error for what would keep nothing."""
    if given.startswith(("postgresql://", "postgres://")):
        return ServerPlace(given)
    if given == ":memory:":
        raise typer.BadParameter("a database in memory would be gone when the command ends; name a file")
    return FilePlace(Path(given))


def file_of(place: Place, command: str) -> Path:
    """Return the path of a file. Raises a usage error for a server, which the command cannot use."""
    if isinstance(place, FilePlace):
        return place.path
    raise typer.BadParameter(f"`vectormem {command}` needs a database file; it cannot use a Postgres server")
