"""The schema of structured items: a model class, dataclass, TypedDict or a JSON Schema."""

import copy
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import jsonschema
from jsonschema.protocols import Validator
from pydantic import BaseModel, JsonValue, PydanticUserError, TypeAdapter, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable
from typing_extensions import is_typeddict

from vectormem.errors import MemoryInvalidError, ToolInputError
from vectormem.slots.typed_dict import supported_typed_dict


class ItemSchema(Protocol):
    """Checks the arguments of a remember tool and turns them into what is stored."""

    @property
    def json_schema(self) -> dict[str, Any]:
        """A JSON Schema of an object; a copy of one's own."""
        ...

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, JsonValue]:
        """Return the parsed object as JSON values. Raises ToolInputError where it does not match."""
        ...


def item_schema(schema: object) -> ItemSchema:
    """Return the schema that `define_memory(item_schema=...)` names. Raises MemoryInvalidError for others."""
    if isinstance(schema, Mapping):
        return JsonItemSchema(schema)
    if isinstance(schema, type) and (
        issubclass(schema, BaseModel) or dataclasses.is_dataclass(schema) or is_typeddict(schema)
    ):
        return TypedItemSchema(schema)
    raise MemoryInvalidError(
        f"item_schema must be a pydantic model class, dataclass, TypedDict or JSON Schema, not {schema!r}"
    )


class JsonItemSchema:
    """A JSON Schema; what it accepts is stored as it came. References to other documents are not followed."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = copy.deepcopy(dict(schema))
        self._validator = _validator(self._schema)

    @property
    def json_schema(self) -> dict[str, Any]:
        return copy.deepcopy(self._schema)

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, JsonValue]:
        check_arguments(self._validator, arguments)
        return copy.deepcopy(dict(arguments))


class TypedItemSchema:
    """A Python type; items are stored in its JSON form, under the names of its aliases."""

    def __init__(self, kind: type) -> None:
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(supported_typed_dict(kind) if is_typeddict(kind) else kind)
            self._schema = self._adapter.json_schema(by_alias=True)
        except (PydanticUserError, NameError, TypeError, RecursionError) as error:
            raise MemoryInvalidError(f"item_schema {kind.__name__} has no JSON Schema: {error}") from error
        _check_object(self._schema)

    @property
    def json_schema(self) -> dict[str, Any]:
        return copy.deepcopy(self._schema)

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, JsonValue]:
        try:
            value = self._adapter.validate_json(json.dumps(dict(arguments)))
            parsed: dict[str, JsonValue] = self._adapter.dump_python(value, mode="json", by_alias=True)
        except ValidationError as error:
            reasons = (f"{_path(one['loc'])}: {one['msg']}" for one in error.errors(include_url=False))
            raise ToolInputError("; ".join(reasons)) from error
        return parsed


def check_arguments(validator: Validator, arguments: Any) -> None:
    """Raise ToolInputError, with every reason, where the arguments do not match the schema."""
    try:
        errors = sorted(validator.iter_errors(arguments), key=lambda error: list(map(str, error.absolute_path)))
    except Unresolvable as error:
        raise MemoryInvalidError(f"the JSON Schema refers to {error.ref!r}, which it does not hold") from error
    if errors:
        raise ToolInputError("; ".join(f"{_path(error.absolute_path)}: {error.message}" for error in errors))


def validator_of(schema: Mapping[str, Any]) -> Validator:
    """Return a validator for a schema that is known to be right; it never reads from the network."""
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return kind(schema, registry=Registry())


def _validator(schema: dict[str, Any]) -> Validator:
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
        json.dumps(schema, allow_nan=False)
    except (jsonschema.SchemaError, TypeError, ValueError) as error:
        reason = error.message if isinstance(error, jsonschema.SchemaError) else error
        raise MemoryInvalidError(f"item_schema is not a valid JSON Schema: {reason}") from error
    _check_object(schema)
    return validator_of(schema)


def _check_object(schema: Mapping[str, Any]) -> None:
    if schema.get("type", "object") != "object" or not schema:
        raise MemoryInvalidError(
            f"item_schema must describe an object, since it is the input of a tool; not {schema!r}"
        )


def _path(parts: Sequence[Any]) -> str:
    return ".".join(map(str, parts)) or "arguments"
