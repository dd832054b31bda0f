"""What the tables of a database hold, read in plain SQL."""

from collections.abc import Iterator
from typing import NamedTuple

import apsw

_OF_KEY = "(?1 IS NULL OR k.key=?1)"


class KeyCount(NamedTuple):
    """How many items a key holds."""

    key: str
    items: int


class VectorCount(NamedTuple):
    """How many vectors of one embedder and length a key holds."""

    key: str
    embedder: str
    dimensions: int
    vectors: int


class ExportedRow(NamedTuple):
    """An item as it is stored: `metadata` is JSON text, `created_at` microseconds since 1970."""

    key: str
    id: str
    text: str
    created_at: int
    metadata: str | None


def key_counts(connection: apsw.Connection, key: str | None = None) -> list[KeyCount]:
    """Return the keys that hold items, sorted; with `key`, only that one."""
    found = connection.execute(
        f"SELECT k.key, k.items FROM memory_keys AS k WHERE k.items>0 AND {_OF_KEY} ORDER BY k.key",
        (key,),
    )
    return list(map(KeyCount._make, found))


def vector_counts(connection: apsw.Connection, key: str | None = None) -> list[VectorCount]:
    """Return how many vectors each embedder has made in each key."""
    found = connection.execute(
        "SELECT k.key, e.name, length(v.embedding) / 4, count(*) FROM memory_keys AS k"
        " JOIN memory_vectors AS v ON v.key_id=k.id JOIN memory_embedders AS e ON e.id=v.embedder_id"
        f" WHERE {_OF_KEY} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        (key,),
    )
    return list(map(VectorCount._make, found))


def exported_rows(connection: apsw.Connection, key: str | None = None) -> Iterator[ExportedRow]:
    """Yield items key by key, oldest first; with `key`, only its items."""
    found = connection.execute(
        "SELECT k.key, i.id, i.text, i.created_at, i.metadata FROM memory_keys AS k"
        f" JOIN memory_items AS i ON i.key_id=k.id WHERE {_OF_KEY} ORDER BY k.key, i.seq",
        (key,),
    )
    return map(ExportedRow._make, found)
