"""A memory slot: a named memory of an agent, with its scope, its provider and what the model may do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vectormem.errors import MemoryInvalidError
from vectormem.providers.protocol import MemoryProvider
from vectormem.slots.block import smallest_budget
from vectormem.slots.schema import ItemSchema
from vectormem.slots.schema import item_schema as as_item_schema
from vectormem.slots.scope import MemoryContext, Scope, check_scope, scope_key

_NAME = re.compile(r"[A-Za-z0-9_-]{1,55}")


class _Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Recall(_Options):
    """What a run recalls by itself into the system prompt.

    `query="last-input"` looks for the user's last message; "none" takes the newest items. `max_items` is
    also the default limit of the recall tool. `max_chars` bounds the whole block, and the texts that the
    recall tool returns: items that do not fit are left out, a first one that is too long is cut.
    """

    on_session_start: bool = True
    max_items: Annotated[int, Field(ge=1)] = 10
    query: Literal["none", "last-input"] = "none"
    max_chars: Annotated[int, Field(ge=1)] | None = None


class Expose(_Options):
    """The tools that the model gets."""

    remember: bool = True
    recall: bool = True
    forget: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class MemorySlot:
    """What `define_memory` returns; compared by identity."""

    name: str
    scope: Scope
    provider: MemoryProvider
    description: str | None
    recall: Recall
    expose: Expose
    item_schema: ItemSchema | None
    item_key: tuple[str, ...]


def define_memory(
    *,
    name: str,
    scope: Scope,
    provider: MemoryProvider,
    description: str | None = None,
    recall: Recall | Mapping[str, Any] = Recall(),
    expose: Expose | Mapping[str, Any] = Expose(),
    item_schema: object = None,
    item_key: str | Sequence[str] | None = None,
) -> MemorySlot:
    """Define a named memory of an agent.

    `name` is 1 to 55 characters of `A-Za-z0-9_-`; the tools are called `remember_<name>` and so on.
    `scope` is "global" (one memory for all), "session", or a function of the `MemoryContext` that returns
    a key, or None where the memory is off. `description` tells the model what the memory is for.
    `item_schema` makes items structured; `item_key` names the fields by which a new item replaces an old
    one. Raises MemoryInvalidError for anything that is not valid.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MemoryInvalidError(f"a memory name has 1 to 55 characters from A-Za-z0-9_-, not {name!r}")
    check_scope(scope)
    if not isinstance(provider, MemoryProvider) or isinstance(provider, type):
        raise MemoryInvalidError(
            f"the provider of memory {name!r} must have the async methods list, add and remove, not {provider!r}"
        )
    if description is not None and not isinstance(description, str):
        raise MemoryInvalidError(f"the description of memory {name!r} must be a string, not {description!r}")
    schema = None if item_schema is None else as_item_schema(item_schema)
    slot = MemorySlot(
        name=name,
        scope=scope,
        provider=provider,
        description=description,
        recall=_options(Recall, recall, f"recall of memory {name!r}"),
        expose=_options(Expose, expose, f"expose of memory {name!r}"),
        item_schema=schema,
        item_key=_item_key(item_key, schema),
    )
    _check_budget(slot)
    return slot


def memory_key(slot: MemorySlot, context: MemoryContext | None = None) -> str | None:
    """Return the provider key of a slot, `<slot name>#<scope key>`; None where the slot is off.

    Raises MemoryInvalidError where the scope fails or returns no usable key.
    """
    key = scope_key(slot.name, slot.scope, context or MemoryContext())
    return None if key is None else f"{slot.name}#{key}"


OptionsT = TypeVar("OptionsT", bound=_Options)


def _options(kind: type[OptionsT], given: object, what: str) -> OptionsT:
    if isinstance(given, kind):
        return given
    try:
        return kind.model_validate(dict(given) if isinstance(given, Mapping) else given)
    except ValidationError as error:
        reasons = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}" for one in error.errors())
        raise MemoryInvalidError(f"{what} is not valid: {reasons}") from error


def _item_key(item_key: object, schema: ItemSchema | None) -> tuple[str, ...]:
    if item_key is None:
        return ()
    if schema is None:
        raise MemoryInvalidError("item_key names fields of item_schema, and there is no item_schema")
    fields = [item_key] if isinstance(item_key, str) else item_key
    if not isinstance(fields, Sequence) or not fields or not all(isinstance(one, str) and one for one in fields):
        raise MemoryInvalidError(f"item_key must be a field name or a list of field names, not {item_key!r}")
    known = schema.json_schema.get("properties") or dict.fromkeys(fields)
    if unknown := [one for one in fields if one not in known]:
        raise MemoryInvalidError(f"item_key names {unknown[0]!r}, and item_schema has only the fields {sorted(known)}")
    return tuple(fields)


def _check_budget(slot: MemorySlot) -> None:
    smallest = smallest_budget(slot.name, show_ids=slot.expose.forget)
    if slot.recall.max_chars is not None and slot.recall.max_chars < smallest:
        raise MemoryInvalidError(
            f"recall.max_chars of memory {slot.name!r} is {slot.recall.max_chars}; a block of one item needs {smallest}"
        )
