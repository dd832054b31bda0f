"""Copying all items of one store to another. What is there already stays, so a copy can be run again."""

from collections.abc import Callable, Sequence
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


class _Batch(NamedTuple):
    rows: list[Row]
    embeddings: dict[int, Embedding]


async def copy_items(source: ItemStore, target: ItemStore, on_progress: OnProgress | None = None) -> Copied:
    """Copy items with their ids, times, order and vectors, as the newest of each key; 500 in one change.

    An item whose id or text the key of the target holds is passed over. After each change it is looked
    whether all are there; StorageFailedError says where some are not.
    """
    keys = await source.scope_keys()
    total = sum([await source.read(key, lambda rows: rows.count()) for key in keys])
    read = copied = 0
    for key in keys:
        after = 0
        while (batch := await source.read(key, partial(_batch, after=after))).rows:
            copied += await target.change(key, partial(_put, batch=batch))
            await _check(target, key, batch.rows)
            read, after = read + len(batch.rows), batch.rows[-1].seq
            if on_progress:
                on_progress(read, max(read, total))
        migrated = await source.read(key, lambda rows: rows.copied_ids())
        await target.change(key, partial(_mark_copied, ids=migrated))
    return Copied(read, copied)


def _batch(rows: Rows, after: int) -> _Batch:
    found = rows.without_vector(_EVERY_ROW, after, _AT_ONCE)
    return _Batch(found, rows.embeddings(found))


def _put(rows: Rows, batch: _Batch) -> int:
    fresh = _lacking(rows, batch.rows)
    vectors = {row.text: batch.embeddings[row.seq] for row in fresh if row.seq in batch.embeddings}
    rows.insert([Draft(*row[1:]) for row in fresh], vectors)
    return len(fresh)


def _lacking(rows: Rows, wanted: Sequence[Row]) -> list[Row]:
    texts, ids = rows.find([row.text for row in wanted]), rows.known_ids([row.id for row in wanted])
    return [row for row in wanted if row.text not in texts and row.id not in ids]


def _mark_copied(rows: Rows, ids: set[str]) -> None:
    rows.mark_copied(ids - rows.copied_ids())


async def _check(target: ItemStore, key: str, wanted: Sequence[Row]) -> None:
    lacking = await target.read(key, partial(_lacking, wanted=wanted))
    if lacking:
        raise StorageFailedError(
            f"{len(lacking)} of {len(wanted)} items of {key!r} are not where they were copied to; "
            "does something delete there? run the copy again"
        )
