"""Hooks that a framework tells of what happens in a run, one beside another."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


def told_before(hooks: T, others: T) -> T:
    """Return the hooks, each of whose async `on_...` methods tells the others too, once it has returned itself."""
    for event in [name for name in dir(hooks) if name.startswith("on_")]:
        setattr(hooks, event, _InTurn(getattr(hooks, event), getattr(others, event)))
    return hooks


class _InTurn:
    def __init__(self, *events: Callable[..., Awaitable[None]]) -> None:
        self._events = events

    async def __call__(self, *given: Any, **named: Any) -> None:
        for event in self._events:
            await event(*given, **named)
