"""A session of the OpenAI Agents SDK in the database file of the memory."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from vectormem.adapters.kept import KeptInSqlite
from vectormem.adapters.missing import missing_extra
from vectormem.adapters.run_sessions import note_session
from vectormem.checks import check_name, check_scope_key
from vectormem.errors import MemoryInvalidError
from vectormem.stores.sqlite.sessions import SessionRows, SqliteSession
from vectormem.stores.sqlite.store import SqliteStore

try:
    from agents import RunContextWrapper, SessionSettings, TResponseInputItem
except ImportError as error:
    raise missing_extra("openai-agents", error) from error

T = TypeVar("T")


class VectormemSession(KeptInSqlite):
    """A conversation kept in a `SqliteStore`, or in the file at a path, which is then closed by `aclose`.

    It does what the SDK's own sessions do, and several processes may use one conversation. No verb sees
    those of another `scope_key`. A run with this session has its id as `MemoryContext.session_id`, unless
    its context says another. Raises MemoryInvalidError for an id or key that cannot be stored.
    """

    def __init__(
        self,
        session_id: str,
        store: SqliteStore | str | os.PathLike[str],
        *,
        scope_key: str = "global",
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        key = check_scope_key(scope_key)
        self.session_id = check_name(session_id, "the id of a session")
        settings = SessionSettings(**session_settings) if isinstance(session_settings, dict) else session_settings
        self.session_settings: SessionSettings | None = settings or SessionSettings()
        self._keep_in(store)
        self._rows = SqliteSession(self._store, key, session_id)

    async def get_items(
        self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """Return the latest `limit` items (None: as the settings say, else all), oldest first."""
        note_session(wrapper, self.session_id)
        most = self.session_settings.limit if limit is None and self.session_settings else limit
        texts = await self._rows.read(lambda rows: rows.newest(most))
        return [json.loads(text) for text in texts]

    async def add_items(
        self, items: list[TResponseInputItem], *, wrapper: RunContextWrapper[Any] | None = None
    ) -> None:
        """Add items behind the others: all of them, or none. Raises MemoryInvalidError for what is no JSON."""
        note_session(wrapper, self.session_id)
        texts = [_as_json(item) for item in items]
        if texts:
            await self._change(lambda rows: rows.append(texts))

    async def pop_item(self, *, wrapper: RunContextWrapper[Any] | None = None) -> TResponseInputItem | None:
        """Remove the latest item and return it; None where there is none."""
        note_session(wrapper, self.session_id)
        text = await self._change(lambda rows: rows.pop())
        item: TResponseInputItem | None = None if text is None else json.loads(text)
        return item

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Remove all items."""
        note_session(wrapper, self.session_id)
        await self._change(lambda rows: rows.clear())

    def __repr__(self) -> str:
        return f"VectormemSession({self.session_id!r})"

    async def _change(self, work: Callable[[SessionRows], T]) -> T:
        return await _to_its_end(self._rows.change(work))


async def _to_its_end(change: Coroutine[Any, Any, T]) -> T:
    """Wait for a change even where the caller is cancelled, so that the caller's next one comes after it."""
    task = asyncio.ensure_future(change)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _as_json(item: object) -> str:
    try:
        return json.dumps(item)
    except (TypeError, ValueError) as error:
        raise MemoryInvalidError(f"an item of a session cannot be written as JSON: {error}") from error
