"""The template of every built-in provider: checks, rules and results; stores only hold rows."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self, TypeAlias

from pydantic import JsonValue

from vectormem.canonical import encode_metadata
from vectormem.checks import check_id, check_limit, check_positive, check_query, check_scope_key, check_text
from vectormem.errors import MemoryInvalidError
from vectormem.items import MemoryItem
from vectormem.origin import new_uuid, utc_now
from vectormem.providers import rules
from vectormem.ranking.keyword import rank_by_words
from vectormem.stores.rows import BRIEF, Draft, Embeddings, ItemStore, Row, Rows, T, item_of, to_microseconds

Progress: TypeAlias = Callable[[int, int], object]
Metadata: TypeAlias = Mapping[str, JsonValue] | None

_NEVER_STORED = re.compile("[\0\ud800-\udfff]")


class BuiltinProvider:
    """All verbs of a memory over one store, ranked by words.

    `max_items` bounds each key (None: no bound); one item more drops the oldest. A text is kept once a
    key: adding it again returns the stored item unchanged. Every verb raises MemoryInvalidError for a
    wrong argument, before it reads or changes anything, and StorageFailedError where the store fails.
    """

    ranks_by_meaning: bool = False

    def __init__(
        self,
        items: ItemStore,
        *,
        max_items: int | None,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_uuid,
    ) -> None:
        self.max_items = None if max_items is None else check_positive(max_items, "max_items")
        self._items = items
        self._clock = clock
        self._new_id = new_id

    async def list(self, scope_key: str, *, limit: int | None = None, query: str | None = None) -> Sequence[MemoryItem]:
        """Return items, newest first; with a query that is not blank, the matches, best first."""
        key, most, words = check_scope_key(scope_key), check_limit(limit), check_query(query)
        if words is not None:
            return await self._ranked(key, words, most)
        brief = most is not None and most <= BRIEF
        rows = await self._items.read(key, lambda rows: rows.newest(most), brief=brief)
        return [item_of(row) for row in rows]

    async def add(self, scope_key: str, text: str, *, metadata: Metadata = None) -> MemoryItem:
        """Store an item as the newest; where the text is stored, return that item as it is."""
        return (await self.add_many(scope_key, [text], metadata=metadata))[0]

    async def add_many(
        self,
        scope_key: str,
        texts: Sequence[str],
        *,
        metadata: Metadata | Sequence[Metadata] = None,
        on_progress: Progress | None = None,
    ) -> Sequence[MemoryItem]:
        """Add texts in one change, as if one after the other; return one item for each, in order.

        `metadata` is one mapping for all, or a sequence with one (or None) for each text.
        """
        key = check_scope_key(scope_key)
        given = _listed(texts, "texts", "strings; add() takes one")
        encoded = _one_each(metadata, len(given))
        drafts = self._drafts(list(zip(map(check_text, given), encoded, strict=True)))
        wanted = [draft.text for draft in drafts]
        rows = await self._change(
            key,
            lambda rows: rules.new_texts(rows, wanted, self.max_items),
            lambda rows, embeddings: rules.add_all(rows, drafts, embeddings, self.max_items),
            texts=len(drafts),
            on_batch=_on_batch(on_progress, len(drafts)),
        )
        if on_progress and drafts:
            on_progress(len(drafts), len(drafts))
        return [item_of(row) for row in rows]

    async def upsert(
        self, scope_key: str, text: str, *, id: str | None = None, metadata: Metadata = None
    ) -> MemoryItem:
        """Replace the item with this id; it keeps the id, gets a new time and becomes the newest.

        Without an id, this is `add`. An id that is not stored becomes the new item's id; another item
        with the same text is removed.
        """
        key, item_id = check_scope_key(scope_key), None if id is None else check_id(id)
        draft = self._drafts([(check_text(text), encode_metadata(metadata))])[0]
        row = await self._change(
            key,
            lambda rows: rules.text_to_replace(rows, text, item_id, self._embedder_id),
            lambda rows, embeddings: rules.upsert(rows, draft, item_id, embeddings, self.max_items),
        )
        return item_of(row)

    async def upsert_matching(
        self, scope_key: str, text: str, *, metadata: Mapping[str, JsonValue], fields: Sequence[str]
    ) -> tuple[MemoryItem, bool]:
        """Replace the newest item whose metadata equals `metadata` in `fields`, decided inside the change.

        Older items that match too are removed. Return the item and whether it replaced one.
        """
        key = check_scope_key(scope_key)
        draft = self._drafts([(check_text(text), encode_metadata(metadata))])[0]

        def target(rows: Rows) -> str | None:
            return next((row.id for row in rules.matching_rows(rows, metadata, fields)), None)

        def apply(rows: Rows, embeddings: Embeddings) -> tuple[Row, bool]:
            matches = rules.matching_rows(rows, metadata, fields)
            rows.delete(matches[1:])
            item_id = matches[0].id if matches else None
            row = rules.upsert(rows, draft, item_id, embeddings, self.max_items)
            return row, bool(matches)

        row, replaced = await self._change(
            key, lambda rows: rules.text_to_replace(rows, text, target(rows), self._embedder_id), apply
        )
        return item_of(row), replaced

    async def remove(self, scope_key: str, item_id: str) -> bool:
        """Delete an item; return False where the key holds no such item."""
        key = check_scope_key(scope_key)
        return await self._items.change(key, lambda rows: _remove(rows, item_id))

    async def get(self, scope_key: str, item_id: str) -> MemoryItem | None:
        """Return the item with this id, or None."""
        key = check_scope_key(scope_key)
        row = await self._items.read(key, lambda rows: _find(rows, item_id), brief=True)
        return None if row is None else item_of(row)

    async def count(self, scope_key: str) -> int:
        """Return the number of items in the key."""
        return await self._items.read(check_scope_key(scope_key), lambda rows: rows.count(), brief=True)

    async def clear(self, scope_key: str) -> int:
        """Delete all items of the key; return how many there were."""
        return await self._items.change(check_scope_key(scope_key), lambda rows: rows.clear())

    async def scope_keys(self) -> Sequence[str]:
        """Return the keys of the store that hold items, sorted."""
        return await self._items.scope_keys()

    async def restore(
        self,
        scope_key: str,
        items: Sequence[MemoryItem],
        *,
        oldest_first: bool | None = None,
        on_progress: Progress | None = None,
    ) -> int:
        """Put items back with their ids, times and order, as the newest of the key; return how many.

        Items whose id or text the key holds already are skipped. `items` are oldest first, or newest
        first as `list` returns them; where `oldest_first` does not say, the first and last time tell.
        """
        key = check_scope_key(scope_key)
        drafts = list(map(_draft_of, _listed(items, "items", "MemoryItem objects")))
        if oldest_first is None:
            oldest_first = not drafts or drafts[0].created_at <= drafts[-1].created_at
        if not oldest_first:
            drafts.reverse()
        wanted = [draft.text for draft in drafts]
        restored = await self._change(
            key,
            lambda rows: rules.new_texts(rows, wanted, None),
            lambda rows, embeddings: rules.restore(rows, drafts, embeddings, self.max_items),
            texts=len(drafts),
            on_batch=_on_batch(on_progress, len(drafts)),
        )
        if on_progress and drafts:
            on_progress(len(drafts), len(drafts))
        return restored

    async def copy_from(self, old_key: str, new_key: str, *, remove_old: bool = False) -> tuple[int, int]:
        """Copy the items of one key to another, oldest first, with new ids and times.

        What was copied once is remembered: an item that was forgotten since does not come back. Return
        how many items the old key held and how many were new in the new one.
        """
        old = await self._items.read(check_scope_key(old_key), lambda rows: rows.newest())
        oldest_first = old[::-1]
        copies = self._drafts([(row.text, row.metadata) for row in oldest_first])
        drafts = {row.id: copy for row, copy in zip(oldest_first, copies, strict=True)}
        wanted = [draft.text for draft in drafts.values()]

        def apply(rows: Rows, embeddings: Embeddings) -> int:
            return rules.copy_new(rows, drafts, lambda fresh: rules.add_all(rows, fresh, embeddings, self.max_items))

        copied = 0
        if drafts:
            copied = await self._change(
                check_scope_key(new_key), lambda rows: rules.new_texts(rows, wanted, self.max_items), apply
            )
        if remove_old:
            await self._items.change(old_key, lambda rows: rows.delete(filter(None, map(rows.get, drafts))))
        return len(old), copied

    async def aclose(self) -> None:
        """Close what this provider opened itself; a store that was passed in stays open."""
        await self._items.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def _embedder_id(self) -> str:
        return ""

    async def _ranked(self, key: str, query: str, limit: int | None) -> Sequence[MemoryItem]:
        rows = await self._items.read(key, lambda rows: rows.newest())
        return [item_of(rows[position]) for position in rank_by_words([row.text for row in rows], query, limit)]

    async def _change(
        self,
        key: str,
        needed: Callable[[Rows], Collection[str]],
        apply: Callable[[Rows, Embeddings], T],
        *,
        texts: int = 1,
        on_batch: Callable[[int], object] | None = None,
    ) -> T:
        """Apply a change for which texts have to be embedded first; here, none have."""
        return await self._items.change(key, lambda rows: apply(rows, {}))

    def _drafts(self, contents: Sequence[tuple[str, str | None]]) -> Sequence[Draft]:
        """Return drafts of texts with their metadata; those of one call have one time."""
        now = to_microseconds(self._clock())
        return [Draft(self._new_id(), text, metadata, now) for text, metadata in contents]


def _on_batch(on_progress: Progress | None, total: int) -> Callable[[int], object] | None:
    """Report embedded texts; the last of all is reported when everything is stored."""
    return None if on_progress is None else lambda done: on_progress(min(done, total - 1), total)


def _listed(values: object, name: str, what: str) -> Sequence[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise MemoryInvalidError(f"{name} must be a sequence of {what}, not {type(values).__name__}")
    return list(values)


def _draft_of(item: object) -> Draft:
    if not isinstance(item, MemoryItem):
        raise MemoryInvalidError(f"restore takes MemoryItem objects, not {type(item).__name__}")
    text, metadata = check_text(item.text), encode_metadata(item.own_metadata())
    return Draft(check_id(item.id), text, metadata, to_microseconds(item.created_at))


def _find(rows: Rows, item_id: object) -> Row | None:
    """Return the row with this id; what no store can hold is nobody's id."""
    return rows.get(item_id) if isinstance(item_id, str) and not _NEVER_STORED.search(item_id) else None


def _remove(rows: Rows, item_id: object) -> bool:
    row = _find(rows, item_id)
    if row is not None:
        rows.delete([row])
    return row is not None


def _one_each(metadata: Metadata | Sequence[Metadata], count: int) -> list[str | None]:
    if metadata is None or isinstance(metadata, Mapping):
        return [encode_metadata(metadata)] * count
    if not isinstance(metadata, Sequence) or isinstance(metadata, str) or len(metadata) != count:
        raise MemoryInvalidError(f"metadata must be one mapping, or a sequence of {count}, one for each text")
    return list(map(encode_metadata, metadata))
