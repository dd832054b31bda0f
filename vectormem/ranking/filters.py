"""Filters over the fields of JSON objects, as data: they are compared here and never become SQL."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from vectormem.errors import MemoryInvalidError

Predicate: TypeAlias = Callable[[Mapping[str, Any]], bool]


def compile_filter(filter: Mapping[str, Any] | None) -> Predicate:
    """Return the function that tells whether an object has all the fields of the filter.

    A value stands for itself, an object for one that has at least these fields, and an object of operators
    ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin) for what they say. Numbers are ordered among numbers and
    strings among strings, nothing else. Raises MemoryInvalidError for what is no filter.
    """
    if filter is not None and not isinstance(filter, Mapping):
        raise MemoryInvalidError(f"a filter must be an object of fields, not {filter!r}")
    wanted = dict(filter or {})
    _check(wanted, operators=False)
    return lambda value: all(_matches(value.get(field), condition) for field, condition in wanted.items())


def _check(condition: object, *, operators: bool = True) -> None:
    if isinstance(condition, Mapping):
        named = [name for name in condition if not isinstance(name, str) or name.startswith("$")]
        if named and not (operators and len(named) == len(condition) and set(named) <= set(_OPERATORS)):
            raise MemoryInvalidError(f"a filter has the operators {', '.join(_OPERATORS)}, not {dict(condition)!r}")
        _check_lists(condition)
        for inner in condition.values():
            _check(inner, operators=not named)
    elif isinstance(condition, list | tuple):
        for inner in condition:
            _check(inner)


def _check_lists(condition: Mapping[Any, Any]) -> None:
    for name in ("$in", "$nin"):
        if name in condition and not isinstance(condition[name], list | tuple | set | frozenset):
            raise MemoryInvalidError(f"{name} of a filter takes a list, not {condition[name]!r}")


def _matches(value: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        if any(name.startswith("$") for name in condition):
            return all(_OPERATORS[name](value, operand) for name, operand in condition.items())
        return isinstance(value, Mapping) and all(_matches(value.get(name), inner) for name, inner in condition.items())
    if isinstance(condition, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(condition):
            return False
        return all(map(_matches, value, condition))
    return _equal(value, condition)


def _equal(value: object, operand: object) -> bool:
    """Compare as JSON does, where true is not 1."""
    if isinstance(value, Mapping) and isinstance(operand, Mapping):
        return value.keys() == operand.keys() and all(_equal(value[name], operand[name]) for name in value)
    if isinstance(value, list | tuple) and isinstance(operand, list | tuple):
        return len(value) == len(operand) and all(map(_equal, value, operand))
    return isinstance(value, bool) == isinstance(operand, bool) and value == operand


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def check(value: object, operand: object) -> bool:
        both = (value, operand)
        comparable = all(_is_number(one) for one in both) or all(isinstance(one, str) for one in both)
        return comparable and compare(value, operand)

    return check


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": _equal,
    "$ne": lambda value, operand: not _equal(value, operand),
    "$gt": _ordered(lambda value, operand: value > operand),
    "$gte": _ordered(lambda value, operand: value >= operand),
    "$lt": _ordered(lambda value, operand: value < operand),
    "$lte": _ordered(lambda value, operand: value <= operand),
    "$in": lambda value, operand: any(_equal(value, one) for one in operand),
    "$nin": lambda value, operand: not any(_equal(value, one) for one in operand),
}
