"""Copying items from one store to another. What is there already stays, so a copy can be run again."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from vectormem.errors import StorageFailedError
from vectormem.stores.rows import Draft, Embedding, ItemStore, Row, Rows, VectorKind

OnProgress: TypeAlias = Callable[[int, int], object]

_EVERY_ROW = VectorKind("", 0)  # no vector is of this kind, so every row lacks one
_AT_ONCE = 500


class Copied(NamedTuple):
    """How many were read, and how many of them the other store did not hold yet."""

    read: int
    copied: int


class ItemBatch(NamedTuple):
    """Items of a key in their order, their vectors by seq, and older items that a migration has copied into it."""

    key: str
    rows: list[Row]
    embeddings: dict[int, Embedding]
    migrated: set[str]


async def copy_items(
    source: ItemStore, target: ItemStore, on_progress: OnProgress | None = None, *, keys: Sequence[str] | None = None
) -> Copied:
    """Copy items with their ids, times, order and vectors, as the newest of each key; 500 in one change.

    An item whose id or text the key of the target holds is passed over. After each change it is looked
    whether all are there; StorageFailedError says where some are not. `keys` are copied, or all.
    """
    wanted = await source.scope_keys() if keys is None else keys
    total = sum([await source.read(key, lambda rows: rows.count()) for key in wanted])
    read = copied = 0
    async for batch in item_batches(source, wanted):
        copied += await put_items(target, batch)
        read += len(batch.rows)
        if on_progress:
            on_progress(read, max(read, total))
    return Copied(read, copied)


async def item_batches(source: ItemStore, keys: Sequence[str]) -> AsyncIterator[ItemBatch]:
    """Yield the items of keys, oldest first."""
    for key in keys:
        after = 0
        while (batch := await source.read(key, partial(_batch, key=key, after=after))).rows:
            yield batch
            after = batch.rows[-1].seq
        migrated = await source.read(key, lambda rows: rows.copied_ids())
        if migrated:
            yield ItemBatch(key, [], {}, migrated)


async def put_items(target: ItemStore, batch: ItemBatch) -> int:
    """Store the items of a batch that are not there yet, and return how many; then look whether all are there."""
    copied = await target.change(batch.key, partial(_put, batch=batch))
    await _check(target, batch.key, batch.rows)
    return copied


def _batch(rows: Rows, key: str, after: int) -> ItemBatch:
    found = rows.without_vector(_EVERY_ROW, after, _AT_ONCE)
    return ItemBatch(key, found, rows.embeddings(found), set())


def _put(rows: Rows, batch: ItemBatch) -> int:
    fresh = _lacking(rows, batch.rows)
    vectors = {row.text: batch.embeddings[row.seq] for row in fresh if row.seq in batch.embeddings}
    rows.insert([Draft(*row[1:]) for row in fresh], vectors)
    if batch.migrated:
        rows.mark_copied(batch.migrated - rows.copied_ids())
    return len(fresh)


def _lacking(rows: Rows, wanted: Sequence[Row]) -> list[Row]:
    """Return the rows of which neither id nor text is stored, nor that of an earlier one of them."""
    texts, ids = set(rows.find([row.text for row in wanted])), rows.known_ids([row.id for row in wanted])
    lacking = []
    for row in wanted:
        if row.text not in texts and row.id not in ids:
            lacking.append(row)
            texts.add(row.text)
            ids.add(row.id)
    return lacking


async def _check(target: ItemStore, key: str, wanted: Sequence[Row]) -> None:
    lacking = await target.read(key, partial(_lacking, wanted=wanted))
    if lacking:
        raise StorageFailedError(
            f"{len(lacking)} of {len(wanted)} items of {key!r} are not where they were copied to; "
            "does something delete there? run the copy again"
        )
