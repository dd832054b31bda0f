"""The lines of a JSONL file that `copy` writes and reads: items, chats, and the vectors of both."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue, ValidationError

from vectormem.canonical import encode_metadata
from vectormem.chat.checks import check_draft
from vectormem.checks import check_id, check_scope_key, check_text
from vectormem.cli.item_view import timestamp
from vectormem.cli.options import DEFAULT_KEY
from vectormem.cli.sources import Source
from vectormem.errors import MemoryInvalidError
from vectormem.index.array import Matrix
from vectormem.stores.chat_copying import MessageBatch, MessageVectors
from vectormem.stores.chats import Part, StoredMessage
from vectormem.stores.copying import ItemBatch
from vectormem.stores.rows import Embedding, Row, from_microseconds, to_microseconds

T = TypeVar("T", bound=BaseModel)

_AT_ONCE = 500
_SLACK = 1e-3  # a stored vector is of unit length but for rounding


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Vectors(_Line):
    embedder: str
    float32: str  # base64, little-endian


class _Item(_Line):
    key: str = DEFAULT_KEY
    id: str
    text: str
    created_at: AwareDatetime
    metadata: dict[str, JsonValue] | None = None
    vector: _Vectors | None = None


class _Migrated(_Line):
    key: str
    migrated: list[str]


class _Message(_Line):
    scope_key: str
    conversation_id: str
    id: str
    role: str
    content: str
    created_at: AwareDatetime
    metadata: dict[str, JsonValue] | None = None


class _MessageVectors(_Line):
    scope_key: str
    message_id: str
    content_hash: str
    parts: list[tuple[int, int, int]]
    vectors: _Vectors


def lines_of(batch: ItemBatch | MessageBatch) -> Iterator[dict[str, Any]]:
    """Yield the lines of a batch, as JSON objects."""
    return _item_lines(batch) if isinstance(batch, ItemBatch) else _message_lines(batch)


def _item_lines(batch: ItemBatch) -> Iterator[dict[str, Any]]:
    for row in batch.rows:
        line = {"key": batch.key, "id": row.id, "text": row.text, **_stored(row.created_at, row.metadata)}
        if (embedding := batch.embeddings.get(row.seq)) is not None:
            line["vector"] = _encoded(embedding.embedder, embedding.vector)
        yield line
    if batch.migrated:
        yield {"key": batch.key, "migrated": sorted(batch.migrated)}


def _message_lines(batch: MessageBatch) -> Iterator[dict[str, Any]]:
    for _, message_id, conversation, role, content, metadata, created_at in batch.messages:
        yield {
            "scope_key": batch.key,
            "conversation_id": conversation,
            "id": message_id,
            "role": role,
            "content": content,
            **_stored(created_at, metadata),
        }
    for one in batch.vectors:
        yield {
            "scope_key": batch.key,
            "message_id": one.message_id,
            "content_hash": one.content_hash,
            "parts": [[part.part, part.start, part.end] for part in one.parts],
            "vectors": _encoded(one.embedder, one.matrix),
        }


def read_batches(source: Source) -> Iterator[ItemBatch | MessageBatch]:
    """Yield batches of a file, each of one key. Raises MemoryInvalidError at a bad line, after those before it."""
    batch: ItemBatch | MessageBatch | None = None
    size = 0
    try:
        for line in filter(str.strip, source):
            try:
                one = _read(line, source.line)
            except MemoryInvalidError as error:
                raise source.error(error) from error
            if batch is not None and (type(one) is not type(batch) or one.key != batch.key or size == _AT_ONCE):
                yield batch
                batch = None
            batch, size = (one, 1) if batch is None else (_joined(batch, one), size + 1)
    except MemoryInvalidError:
        if batch is not None:
            yield batch
        raise
    if batch is not None:
        yield batch


def _joined(batch: Any, one: Any) -> Any:
    """Add a batch of one line to another of its kind."""
    for kept, added in zip(batch[1:], one[1:], strict=True):
        kept.extend(added) if isinstance(kept, list) else kept.update(added)
    return batch


def _read(line: str, number: int) -> ItemBatch | MessageBatch:
    try:
        members = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MemoryInvalidError(f"not valid JSON: {error}") from error
    if not isinstance(members, dict):
        raise MemoryInvalidError("a line must be a JSON object")
    if "migrated" in members:
        given = _checked(_Migrated, line)
        return ItemBatch(check_scope_key(given.key), [], {}, set(map(check_id, given.migrated)))
    if "vectors" in members:
        return _message_vectors(_checked(_MessageVectors, line))
    if "content" in members:
        return _message(_checked(_Message, line), number)
    return _item(_checked(_Item, line), number)


def _item(given: _Item, number: int) -> ItemBatch:
    metadata, moment = encode_metadata(given.metadata), to_microseconds(given.created_at)
    row = Row(number, check_id(given.id), check_text(given.text), metadata, moment)
    found = {number: Embedding(given.vector.embedder, _decoded(given.vector, 1)[0])} if given.vector else {}
    return ItemBatch(check_scope_key(given.key), [row], found, set())


def _message(given: _Message, number: int) -> MessageBatch:
    draft = check_draft(given.id, given.conversation_id, given.role, given.content, given.created_at, given.metadata)
    return MessageBatch(check_scope_key(given.scope_key), [StoredMessage(number, *draft)], [])


def _message_vectors(given: _MessageVectors) -> MessageBatch:
    if not given.parts or any(start < 0 or end < start for _, start, end in given.parts):
        raise MemoryInvalidError("'parts' must be lists of a part, its start and its end")
    parts = [Part(part, start, end, "") for part, start, end in given.parts]
    matrix = _decoded(given.vectors, len(parts))
    vectors = MessageVectors(given.message_id, given.content_hash, given.vectors.embedder, parts, matrix)
    return MessageBatch(check_scope_key(given.scope_key), [], [vectors])


def _checked(model: type[T], line: str) -> T:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        reasons = (f"{'.'.join(map(str, one['loc']))!r}: {one['msg']}" for one in error.errors(include_url=False))
        raise MemoryInvalidError("; ".join(reasons)) from error


def _stored(created_at: int, metadata: str | None) -> dict[str, Any]:
    return {
        "created_at": timestamp(from_microseconds(created_at)),
        "metadata": None if metadata is None else json.loads(metadata),
    }


def _encoded(embedder: str, vectors: Matrix) -> dict[str, str]:
    return {"embedder": embedder, "float32": b64encode(np.ascontiguousarray(vectors, "<f4").tobytes()).decode()}


def _decoded(given: _Vectors, count: int) -> Matrix:
    """Return so many vectors, each of unit length, or zero."""
    try:
        values = np.frombuffer(b64decode(given.float32, validate=True), "<f4")
    except ValueError as error:
        raise MemoryInvalidError(f"'float32' must be base64 of float32 values: {error}") from error
    if not given.embedder.strip() or not len(values) or len(values) % count:
        raise MemoryInvalidError(f"a vector needs the id of its embedder and values, {count} vectors in equal parts")
    matrix = values.reshape(count, -1).astype(np.float32)
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1)
    if not np.all((np.abs(lengths - 1) < _SLACK) | (lengths == 0)):
        raise MemoryInvalidError("a vector must be finite and of length 1, or zero")
    return matrix
