"""The commands `keys`, `stats` and `reindex`."""

from typing import TYPE_CHECKING, Any

from vectormem.cli.inspection import KeyCount, VectorCount, inspect, key_counts, vector_counts
from vectormem.cli.opening import opened_store, vector_memory
from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    OnlyKeyOption,
)
from vectormem.cli.output import counted, print_json, print_line, print_table, shown
from vectormem.cli.place import FilePlace, Place
from vectormem.cli.progress import progress

if TYPE_CHECKING:
    from vectormem.cli.opening import Store

_SIZE = (
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c"
    " WHERE c.relnamespace=current_schema()::regnamespace AND c.relkind='r'"
)


def keys(
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OnlyKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Show the keys of all memories in the database, with their number of items.

    Example: vectormem keys --db agent.db
    """
    with opened_store(db) as store:
        counts = inspect(store, lambda tables: key_counts(tables, key))
    if as_json:
        print_json({"keys": [count._asdict() for count in counts]})
    else:
        print_table(("Key", "Items"), counts)


def stats(
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OnlyKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Show how many items and vectors each key has, by embedder, and the size of the database.

    Example: vectormem stats --json
    """
    with opened_store(db) as store:
        items, vectors = inspect(store, lambda tables: (key_counts(tables, key), vector_counts(tables, key)))
        size = _size(db, store)
    if as_json:
        print_json(_document(db.shown, size, items, vectors))
        return
    print_table(("Key", "Items", "Embedder", "Dimensions", "Vectors"), _table_rows(items, vectors))
    print_line(f"{counted(sum(count.items for count in items), 'item')}, {size:,} bytes in {shown(db.shown)}")


def reindex(
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OnlyKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Embed again what the embedder has not embedded yet, in one memory or in all.

    What is done stays done when it is interrupted; the next call goes on from there.

    Example: vectormem reindex --embedder hash:512
    """
    loaded = embedder.load()
    with opened_store(db) as store, progress("embedding") as on_progress:
        changed = vector_memory(store, loaded).reindex(key, on_progress=on_progress)
    if as_json:
        print_json({"reindexed": changed, "key": key, "embedder": loaded.id})
    else:
        print_line(f"reindexed {counted(changed, 'item')} by {shown(loaded.id)}")


def _size(place: Place, store: "Store") -> int:
    """Return the bytes of the file with its log, or of all tables and indexes on the server."""
    if not isinstance(place, FilePlace):
        return inspect(store, lambda tables: int(next(iter(tables.database.query(_SIZE)))[0]))
    files = (place.path, place.path.with_name(f"{place.path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _document(path: str, size: int, items: list[KeyCount], vectors: list[VectorCount]) -> dict[str, Any]:
    keys = []
    for key, count in items:
        own = [one for one in vectors if one.key == key]
        embedders = [{"embedder": one.embedder, "dimensions": one.dimensions, "vectors": one.vectors} for one in own]
        bare = count - sum(one.vectors for one in own)
        keys.append({"key": key, "items": count, "embedders": embedders, "without_vector": bare})
    return {"path": path, "file_bytes": size, "items": sum(count.items for count in items), "keys": keys}


def _table_rows(items: list[KeyCount], vectors: list[VectorCount]) -> list[tuple[object, ...]]:
    """Return a row for each embedder of each key, and one for the items without a vector."""
    rows: list[tuple[object, ...]] = []
    for key, count in items:
        own = [one for one in vectors if one.key == key]
        rows += [(key, count, one.embedder, one.dimensions, one.vectors) for one in own]
        if bare := count - sum(one.vectors for one in own):
            rows.append((key, count, "(no vector)", 0, bare))
    return rows
