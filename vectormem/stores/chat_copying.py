"""Copying all chats of one database to another. What is there already stays, so a copy can be run again."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from vectormem.index.array import Matrix
from vectormem.stores.chat_rows import SqlChatRows
from vectormem.stores.chats import ChatRows, ChatStore, MessageDraft, Part, StoredMessage
from vectormem.stores.copying import Copied, OnProgress
from vectormem.stores.rows import VectorKind

_EVERY_MESSAGE = VectorKind("", 0)
_AT_ONCE = 200
_VECTORS = (
    'SELECT e.name, v.part, v.start, v."end", v.embedding FROM chat_vectors AS v JOIN memory_embedders AS e'
    " ON e.id=v.embedder_id WHERE v.key_id=? AND v.seq=? ORDER BY e.name, v.part"
)


class _Vectors(NamedTuple):
    message: StoredMessage
    embedder: str
    parts: list[Part]
    matrix: Matrix


async def copy_chats(source: ChatStore, target: ChatStore, on_progress: OnProgress | None = None) -> Copied:
    """Copy messages with their ids, times and order, and then their vectors; 200 in one change.

    A message whose id the scope key of the target holds is passed over.
    """
    read = copied = 0
    for key in await source.scope_keys():
        for copies_vectors in (False, True):  # a new message makes the vector of the next one stale
            after = 0
            while messages := await source.read(key, partial(_messages, after=after)):
                after = messages[-1].seq
                if copies_vectors:
                    vectors = await source.read(key, partial(_vectors, messages=messages))
                    await target.change(key, partial(_put_vectors, vectors=vectors))
                    continue
                read += len(messages)
                copied += await target.change(key, partial(_put, messages=messages))
                if on_progress:
                    on_progress(read, 0)
    return Copied(read, copied)


def _messages(rows: ChatRows, after: int) -> list[StoredMessage]:
    return rows.by_seq(rows.pending(_EVERY_MESSAGE, 0, with_context=False, after=after, limit=_AT_ONCE))


def _put(rows: ChatRows, messages: Sequence[StoredMessage]) -> int:
    fresh = [message for message in messages if rows.get(message.id) is None]
    for message in fresh:
        rows.insert(MessageDraft(*message[1:]))
    return len(fresh)


def _vectors(rows: ChatRows, messages: Sequence[StoredMessage]) -> list[_Vectors]:
    assert isinstance(rows, SqlChatRows)
    found = []
    for message in messages:
        stored = list(rows.database.query(_VECTORS, rows.key_id, message.seq))
        for (embedder, _), group in groupby(stored, key=lambda one: (one[0], len(one[4]))):
            parts = list(group)
            matrix = np.stack([np.frombuffer(blob, "<f4") for *_, blob in parts])
            found.append(
                _Vectors(message, embedder, [Part(part, start, end, "") for _, part, start, end, _ in parts], matrix)
            )
    return found


def _put_vectors(rows: ChatRows, vectors: Sequence[_Vectors]) -> None:
    assert isinstance(rows, SqlChatRows)
    for message, embedder, parts, matrix in vectors:
        own = rows.get(message.id)
        if own is None or own.content != message.content:
            continue
        if not list(rows.database.query(_VECTORS, rows.key_id, own.seq)):
            rows.set_vectors(own.seq, embedder, parts, matrix)
