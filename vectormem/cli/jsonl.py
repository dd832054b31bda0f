"""The lines that `export` writes and `import` reads: one item a line, as a JSON object."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from vectormem.canonical import encode_metadata
from vectormem.checks import check_id, check_scope_key, check_text
from vectormem.cli.inspection import ExportedRow
from vectormem.cli.item_view import timestamp
from vectormem.cli.sources import Source
from vectormem.errors import MemoryInvalidError
from vectormem.items import MemoryItem, Moment
from vectormem.stores.rows import from_microseconds


class Record(NamedTuple):
    """An item to import, and the key that the file names for it."""

    key: str | None
    item: MemoryItem


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    key: str | None = None
    id: str | None = None
    text: str
    created_at: Moment | None = None
    metadata: dict[str, JsonValue] | None = None


def exported(row: ExportedRow) -> dict[str, JsonValue]:
    """Return a stored item as the JSON object of its line."""
    return {
        "key": row.key,
        "id": row.id,
        "text": row.text,
        "created_at": timestamp(from_microseconds(row.created_at)),
        "metadata": None if row.metadata is None else json.loads(row.metadata),
    }


def read_jsonl(source: Source) -> Iterator[Record]:
    """Yield the items of a file; only `text` must be there. Raises MemoryInvalidError for a bad line."""
    for line in source:
        if line.strip():
            try:
                yield _record(line)
            except MemoryInvalidError as error:
                raise source.error(error) from error


def new_item(text: str, metadata: dict[str, JsonValue] | None = None) -> MemoryItem:
    """Return an item of this text that was made now."""
    return MemoryItem(id=_new_id(), text=check_text(text), created_at=datetime.now(UTC), metadata=metadata)


def _record(line: str) -> Record:
    try:
        read = _Line.model_validate_json(line)
    except ValidationError as error:
        raise MemoryInvalidError("; ".join(map(_reason, error.errors()))) from error
    encode_metadata(read.metadata)
    item = MemoryItem(
        id=_new_id() if read.id is None else check_id(read.id),
        text=check_text(read.text),
        created_at=read.created_at or datetime.now(UTC),
        metadata=read.metadata,
    )
    return Record(None if read.key is None else check_scope_key(read.key), item)


def _reason(error: ErrorDetails) -> str:
    member = ".".join(map(str, error["loc"]))
    message = error["msg"].replace(" at line 1 column", " at column")
    return f"{member!r}: {message}" if member else message


def _new_id() -> str:
    return str(uuid.uuid4())
