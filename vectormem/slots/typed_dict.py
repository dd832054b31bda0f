"""TypedDicts of the standard library in the form that pydantic takes before Python 3.12."""

import sys
import typing
from types import UnionType
from typing import Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import typing_extensions


def supported_typed_dict(kind: type) -> type:
    """Return a TypedDict class, or one with the same fields that pydantic can read."""
    return kind if sys.version_info >= (3, 12) else _rebuilt(kind)


def _rebuilt(kind: Any) -> Any:
    if not typing_extensions.is_typeddict(kind):
        return _with_arguments(kind)
    hints = get_type_hints(kind, include_extras=True)
    fields = {name: _field(hint, name in kind.__required_keys__) for name, hint in hints.items()}
    rebuilt = typing_extensions.TypedDict(kind.__name__, fields)  # type: ignore[misc]  # made at run time
    rebuilt.__doc__ = kind.__doc__
    if config := getattr(kind, "__pydantic_config__", None):
        rebuilt.__pydantic_config__ = config  # type: ignore[attr-defined]  # pydantic reads it there
    return rebuilt


def _field(hint: Any, required: bool) -> Any:
    if get_origin(hint) in (Required, NotRequired):  # read here, since postponed annotations hide it from Python
        required, hint = get_origin(hint) is Required, get_args(hint)[0]
    return Required[_rebuilt(hint)] if required else NotRequired[_rebuilt(hint)]


def _with_arguments(hint: Any) -> Any:
    """Return a hint such as `list[Inner]` with the TypedDicts among its arguments rebuilt."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None or origin is typing.Literal:
        return hint
    if origin is typing.Annotated:
        return typing.Annotated[(_rebuilt(arguments[0]), *hint.__metadata__)]
    replaced = tuple(map(_rebuilt, arguments))
    return Union[replaced] if origin in (Union, UnionType) else origin[replaced]  # noqa: UP007  # a tuple of types
