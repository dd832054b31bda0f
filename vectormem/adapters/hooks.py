"""Hooks that a framework tells of what happens in a run, one beside another."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


def told_before(hooks: T, others: T) -> T:
    """Return the hooks, each of whose async `on_...` methods tells the others too, once it has returned itself."""
    for event in [name for name in dir(hooks) if name.startswith("on_")]:
        setattr(hooks, event, _in_turn(getattr(hooks, event), getattr(others, event)))
    return hooks


def _in_turn(*events: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def tell(*given: Any, **named: Any) -> None:
        for event in events:
            await event(*given, **named)

    return tell
