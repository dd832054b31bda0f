"""The commands `keys`, `stats` and `reindex`."""

from pathlib import Path
from typing import Any

from vectormem.cli.inspection import KeyCount, VectorCount, key_counts, vector_counts
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
from vectormem.cli.progress import progress


def keys(
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OnlyKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    as_json: JsonOption = False,
) -> None:
    """Show the keys of all memories in the file, with their number of items.

    Example: vectormem keys --db agent.db
    """
    with opened_store(db) as store:
        counts = store.read(lambda connection: key_counts(connection, key))
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
    """Show how many items and vectors each key has, by embedder, and the size of the file.

    Example: vectormem stats --json
    """
    with opened_store(db) as store:
        items, vectors = store.read(lambda connection: (key_counts(connection, key), vector_counts(connection, key)))
        size = _size(db)
    if as_json:
        print_json(_document(db, size, items, vectors))
        return
    print_table(("Key", "Items", "Embedder", "Dimensions", "Vectors"), _table_rows(items, vectors))
    print_line(f"{counted(sum(count.items for count in items), 'item')}, {size:,} bytes in {shown(str(db))}")


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


def _size(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _document(db: Path, size: int, items: list[KeyCount], vectors: list[VectorCount]) -> dict[str, Any]:
    keys = []
    for key, count in items:
        own = [one for one in vectors if one.key == key]
        embedders = [{"embedder": one.embedder, "dimensions": one.dimensions, "vectors": one.vectors} for one in own]
        bare = count - sum(one.vectors for one in own)
        keys.append({"key": key, "items": count, "embedders": embedders, "without_vector": bare})
    return {"path": str(db), "file_bytes": size, "items": sum(count.items for count in items), "keys": keys}


def _table_rows(items: list[KeyCount], vectors: list[VectorCount]) -> list[tuple[object, ...]]:
    """Return a row for each embedder of each key, and one for the items without a vector."""
    rows: list[tuple[object, ...]] = []
    for key, count in items:
        own = [one for one in vectors if one.key == key]
        rows += [(key, count, one.embedder, one.dimensions, one.vectors) for one in own]
        if bare := count - sum(one.vectors for one in own):
            rows.append((key, count, "(no vector)", 0, bare))
    return rows
