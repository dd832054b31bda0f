"""The JSON document in which file and key-value stores keep one key."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from vectormem.errors import StorageFailedError
from vectormem.items import MemoryItem
from vectormem.stores.rows import Draft, Row, from_microseconds, to_microseconds
from vectormem.stores.table import Table

_VERSION = 1


class _Document(BaseModel):
    """`items` are oldest first; `copied` are ids of older items that a migration brought here."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(strict=True)
    key: str
    items: list[MemoryItem]
    copied: list[str] = []


def write_document(scope_key: str, table: Table) -> str:
    """Return the document of a key as JSON text, one line an item, ending in a line break."""
    items = ",\n".join(map(_item_json, reversed(table.newest())))
    copied = sorted(table.copied_ids())
    ending = f', "copied": {_json(copied)}' if copied else ""
    return f'{{"version": {_VERSION}, "key": {_json(scope_key)}, "items": [\n{items}\n]{ending}}}\n'


def read_document(text: str | bytes | None, scope_key: str, place: str) -> Table:
    """Return the rows of a document; an absent one is empty. A bare array of items is read too.

    `place` names the document in errors.

    Raises StorageFailedError where it is no such document, of a newer version, or of another key.
    """
    if text is None:
        return Table()
    document = _parse(text, scope_key, place)
    if document.key != scope_key:
        raise StorageFailedError(f"{place} holds the key {document.key!r} and not {scope_key!r}; it was left as it is")
    table = Table()
    for item in document.items:
        if table.get(item.id) or table.find([item.text]):
            raise StorageFailedError(f"{place} is damaged: it holds item {item.id!r} twice; it was left as it is")
        table.insert([_draft(item)], {})
    table.mark_copied(document.copied)
    return table


def read_key(text: str | bytes, place: str) -> str:
    """Return the key that a document names. Raises StorageFailedError where it names none."""
    return _parse(text, None, place).key


def _parse(text: str | bytes, scope_key: str | None, place: str) -> _Document:
    try:
        content: Any = json.loads(text)
        if isinstance(content, list):
            content = {"version": _VERSION, "key": scope_key, "items": content}
        if isinstance(content, dict):
            _refuse_newer(content.get("version"), place)
        return _Document.model_validate(content)
    except (ValueError, RecursionError) as error:
        reason = _first_error(error)
        raise StorageFailedError(f"{place} is damaged: {reason}; it was left as it is, repair or move it") from error


def _refuse_newer(version: object, place: str) -> None:
    if isinstance(version, int) and version > _VERSION:
        raise StorageFailedError(
            f"{place} has format version {version}, newer than {_VERSION}: upgrade vectormem to use it"
        )


def _first_error(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'content'}: {first['msg']}"
    return str(error) or type(error).__name__


def _item_json(row: Row) -> str:
    moment = from_microseconds(row.created_at).isoformat().replace("+00:00", "Z")
    item: dict[str, JsonValue] = {"id": row.id, "text": row.text, "created_at": moment}
    if row.metadata is not None:
        item["metadata"] = json.loads(row.metadata)
    return _json(item)


def _draft(item: MemoryItem) -> Draft:
    metadata = None if item.metadata is None else _json(item.metadata)
    return Draft(item.id, item.text, metadata, to_microseconds(item.created_at))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
