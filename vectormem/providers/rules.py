"""The rules of a memory, written once, as functions over the rows of one key.

Each checks what it needs before it changes a row, so that a change happens whole or not at all.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from vectormem.canonical import field_values
from vectormem.stores.rows import Draft, Embeddings, Row, Rows

_MOST_COMPARED = 100_000


def new_texts(rows: Rows, texts: Collection[str], max_items: int | None) -> list[str]:
    """Return the texts of a batch that `add_all` may have to store.

    A text that is stored already may be evicted by the batch before its own turn comes.
    """
    distinct = list(dict.fromkeys(texts))
    stored = rows.find(distinct)
    new = [text for text in distinct if text not in stored]
    crowded = max_items is not None and rows.count() + len(new) > max_items
    return distinct if new and crowded else new


def add_all(rows: Rows, drafts: Sequence[Draft], embeddings: Embeddings, max_items: int | None) -> list[Row]:
    """Add drafts one after the other; a text that is stored stays as it is and is returned."""
    first: dict[str, Draft] = {}
    for draft in drafts:
        first.setdefault(draft.text, draft)
    stored = rows.find(first)
    fresh = [draft for text, draft in first.items() if text not in stored]
    if max_items is None or rows.count() + len(fresh) <= max_items:
        stored |= {row.text: row for row in rows.insert(fresh, embeddings)}
        return [stored[draft.text] for draft in drafts]
    return [_add_one(rows, draft, embeddings, max_items, stored) for draft in drafts]


def _add_one(rows: Rows, draft: Draft, embeddings: Embeddings, max_items: int, stored: dict[str, Row]) -> Row:
    """Add a draft to a full key, keeping `stored`, the rows of the batch by text, up to date."""
    if draft.text not in stored:
        stored[draft.text] = rows.insert([draft], embeddings)[0]
        for evicted in rows.trim(max_items):
            stored.pop(evicted.text, None)
    return stored[draft.text]


def text_to_replace(rows: Rows, text: str, item_id: str | None, embedder: str) -> list[str]:
    """Return the text where `upsert` needs a new vector for it, else nothing."""
    stored = rows.find([text]).get(text)
    if stored is None:
        return [text]
    embedding = rows.embedding(stored)
    keeps = item_id is None or (embedding is not None and embedding.embedder == embedder)
    return [] if keeps else [text]


def upsert(rows: Rows, draft: Draft, item_id: str | None, embeddings: Embeddings, max_items: int | None) -> Row:
    """Replace the item with this id, or store a new one under it."""
    if item_id is None:
        return add_all(rows, [draft], embeddings, max_items)[0]
    same_text = rows.find([draft.text]).get(draft.text)
    kept = rows.embedding(same_text) if same_text else None
    replaced = {row.seq: row for row in (rows.get(item_id), same_text) if row is not None}
    rows.delete(replaced.values())
    known = {draft.text: kept} if kept else {}
    row = rows.insert([draft._replace(id=item_id)], {**known, **embeddings})[0]
    rows.trim(max_items)
    return row


def matching_rows(rows: Rows, metadata: Mapping[str, JsonValue], fields: Sequence[str]) -> list[Row]:
    """Return the rows whose metadata has equal values in these fields, newest first.

    An absent field counts as null; a row without metadata never matches.
    """
    wanted = field_values(metadata, fields)
    return [
        row
        for row in rows.newest(_MOST_COMPARED)
        if row.metadata is not None and field_values(json.loads(row.metadata), fields) == wanted
    ]


def restore(rows: Rows, drafts: Sequence[Draft], embeddings: Embeddings, max_items: int | None) -> int:
    """Put items back in this order, as the newest; skip those whose id or text is stored. Return how many."""
    texts = set(rows.find({draft.text for draft in drafts}))
    ids = rows.known_ids({draft.id for draft in drafts})
    fresh: dict[str, Draft] = {}
    for draft in drafts:
        if draft.text not in texts and draft.id not in fresh and draft.id not in ids:
            fresh[draft.id] = draft
            texts.add(draft.text)
    rows.insert(list(fresh.values()), embeddings)
    rows.trim(max_items)
    return len(fresh)


def copy_new(rows: Rows, drafts: Mapping[str, Draft], add: Callable[[Sequence[Draft]], Any]) -> int:
    """Add the drafts, by old id, that no migration has copied here before. Return how many were new."""
    known = rows.copied_ids()
    fresh = {old_id: draft for old_id, draft in drafts.items() if old_id not in known}
    before = rows.count()
    add(list(fresh.values()))
    rows.mark_copied(fresh)
    return rows.count() - before
