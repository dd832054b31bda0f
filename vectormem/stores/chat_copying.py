"""Copying chats from one store to another. What is there already stays, so a copy can be run again."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from vectormem.errors import StorageFailedError
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


class MessageVectors(NamedTuple):
    """The vectors of a message by one embedder, and `hash_of` the content that they were made from."""

    message_id: str
    content_hash: str
    embedder: str
    parts: list[Part]
    matrix: Matrix


class MessageBatch(NamedTuple):
    """Messages of a scope key in their order, or vectors of messages that an earlier batch held."""

    key: str
    messages: list[StoredMessage]
    vectors: list[MessageVectors]


def hash_of(content: str) -> str:
    """Return BLAKE2b of the UTF-8 content, 32 hexadecimal digits."""
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


async def copy_chats(source: ChatStore, target: ChatStore, on_progress: OnProgress | None = None) -> Copied:
    """Copy messages with their ids, times and order, and then their vectors; 200 in one change.

    A message whose id the scope key of the target holds is passed over. After each change it is looked
    whether all are there; StorageFailedError says where some are not.
    """
    read = copied = 0
    async for batch in message_batches(source):
        copied += await put_messages(target, batch)
        read += len(batch.messages)
        if on_progress:
            on_progress(read, 0)
    return Copied(read, copied)


async def message_batches(source: ChatStore) -> AsyncIterator[MessageBatch]:
    """Yield the messages of each scope key, oldest first, and then their vectors.

    Not together: a new message makes the vector of the next one stale.
    """
    for key in await source.scope_keys():
        for wants_vectors in (False, True):
            after = 0
            while messages := await source.read(key, partial(_messages, after=after)):
                after = messages[-1].seq
                if not wants_vectors:
                    yield MessageBatch(key, messages, [])
                elif vectors := await source.read(key, partial(_vectors, messages=messages)):
                    yield MessageBatch(key, [], vectors)


async def put_messages(target: ChatStore, batch: MessageBatch) -> int:
    """Store what is not there yet, and return how many messages that were; then look whether all are there."""
    copied = await target.change(batch.key, partial(_put, batch=batch))
    wanted = {*(message.id for message in batch.messages), *(one.message_id for one in batch.vectors)}
    lacking = await target.read(batch.key, lambda rows: [one for one in wanted if rows.get(one) is None])
    if lacking:
        raise StorageFailedError(
            f"{len(lacking)} of {len(wanted)} messages of {batch.key!r} are not where they were copied to; "
            "does something delete there? run the copy again"
        )
    return copied


def _messages(rows: ChatRows, after: int) -> list[StoredMessage]:
    return rows.by_seq(rows.pending(_EVERY_MESSAGE, 0, with_context=False, after=after, limit=_AT_ONCE))


def _vectors(rows: ChatRows, messages: Sequence[StoredMessage]) -> list[MessageVectors]:
    assert isinstance(rows, SqlChatRows)
    found = []
    for message in messages:
        stored = list(rows.database.query(_VECTORS, rows.key_id, message.seq))
        for (embedder, _), group in groupby(stored, key=lambda one: (one[0], len(one[4]))):
            rows_of_message = list(group)
            parts = [Part(part, start, end, "") for _, part, start, end, _ in rows_of_message]
            matrix = np.stack([np.frombuffer(blob, "<f4") for *_, blob in rows_of_message])
            found.append(MessageVectors(message.id, hash_of(message.content), embedder, parts, matrix))
    return found


def _put(rows: ChatRows, batch: MessageBatch) -> int:
    fresh = 0
    for message in batch.messages:
        if rows.get(message.id) is None:
            rows.insert(MessageDraft(*message[1:]))
            fresh += 1
    for one in batch.vectors:
        _put_vectors(rows, one)
    return fresh


def _put_vectors(rows: ChatRows, vectors: MessageVectors) -> None:
    assert isinstance(rows, SqlChatRows)
    own = rows.get(vectors.message_id)
    if own is None or hash_of(own.content) != vectors.content_hash:
        return
    if not list(rows.database.query(_VECTORS, rows.key_id, own.seq)):
        rows.set_vectors(own.seq, vectors.embedder, vectors.parts, vectors.matrix)
