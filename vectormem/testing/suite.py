"""What the conformance suites stand on: coroutines as tests, without a plugin, and their fixtures."""

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeAlias, cast

import pytest

from vectormem.errors import MemoryInvalidError
from vectormem.items import MemoryItem
from vectormem.providers.base import BuiltinProvider
from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.embedder import ScriptedEmbedder

KEY = "notes#user:u-42"
OTHER_KEY = "notes#user:u-43"

BAD_KEYS = [None, "", 7, b"notes#global", "notes\0", "notes#\ud83d"]
BAD_TEXTS = [None, "", "   ", "\n\t\u2003", 7, b"tea", "tea\0pot", "hi \ud83d"]

Reopen: TypeAlias = Callable[..., MemoryProvider]


class AsyncSuite:
    """Runs each `async def test_*` of a subclass in an event loop of its own."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, test in list(vars(cls).items()):
            if name.startswith("test_") and inspect.iscoroutinefunction(test):
                setattr(cls, name, _run_to_the_end(test))


class ProviderFixtures(AsyncSuite):
    """The fixtures that tests of a provider ask for; `provider` alone has to be given."""

    @pytest.fixture
    def provider(self) -> MemoryProvider:
        """Return a new, empty provider that holds at least 1,000 items a key."""
        raise NotImplementedError("give the suite a fixture `provider` that returns a new, empty provider")

    @pytest.fixture
    def small_provider(self) -> MemoryProvider:
        """Return a new, empty provider that holds three items a key."""
        pytest.skip("no fixture `small_provider`: a provider that holds three items a key")

    @pytest.fixture
    def reopened(self) -> Reopen:
        """Return a function that opens the storage of `provider` again and returns a provider on it.

        For vector providers it takes an embedder, which is that of `provider` where none is given.
        """
        pytest.skip("no fixture `reopened`: a function that opens the storage of `provider` again")


class VectorFixtures(ProviderFixtures):
    """The fixtures of a vector provider: `provider` and the others ask for `embedder` and use it."""

    @pytest.fixture
    def embedder(self) -> ScriptedEmbedder:
        """Return the embedder of the tests, which write its vectors down."""
        return ScriptedEmbedder()


def verbs(provider: MemoryProvider, *names: str) -> BuiltinProvider:
    """Return the provider as one that has these verbs beyond list, add and remove, or skip the test."""
    for name in names:
        if not callable(getattr(provider, name, None)):
            pytest.skip(f"{type(provider).__name__} has no verb `{name}`")
    return cast("BuiltinProvider", provider)


def texts(items: Iterable[MemoryItem]) -> list[str]:
    """Return the texts of items, in order."""
    return [item.text for item in items]


async def add_all(provider: MemoryProvider, key: str, *items: str) -> list[MemoryItem]:
    """Add texts one after the other and return their items."""
    return [await provider.add(key, text) for text in items]


async def refuses(call: Coroutine[Any, Any, object]) -> None:
    """Check that a call raises MemoryInvalidError."""
    with pytest.raises(MemoryInvalidError):
        await call


def _run_to_the_end(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run
