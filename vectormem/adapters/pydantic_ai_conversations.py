"""Conversations of pydantic-ai in the database that holds memory and chats too."""

import json
import os
from collections.abc import Sequence

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from vectormem.adapters.kept import KeptInSqlite
from vectormem.adapters.missing import missing_extra
from vectormem.adapters.pauses import Snapshot
from vectormem.canonical import check_storable
from vectormem.checks import check_name, check_scope_key
from vectormem.concurrency import run_in_thread
from vectormem.errors import MemoryInvalidError
from vectormem.stores.rows import to_microseconds
from vectormem.stores.sqlite.conversations import ConversationRow, EntryRow, SqliteConversationRows
from vectormem.stores.sqlite.store import SqliteStore

try:
    from pydantic_ai.conversation_store import (
        ConversationConflict,
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
    from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
except ImportError as error:
    raise missing_extra("pydantic-ai", error) from error

_RECORDS = TypeAdapter(ConversationRecord)
_ID = "a conversation id"


class SqliteConversations(KeptInSqlite, ConversationStore):
    """Keeps the conversations of one scope key in a `SqliteStore`, or in the file of a path; no verb crosses it.

    Several processes may use one file: a save that would lose another's turn raises ConversationConflict.
    Deleting a conversation erases its messages, but for those that a fork still uses, and overwrites them in
    the file. It can be the `pauses` of an `AgentMemory`, so that a paused run goes on in another process.
    A path in place of the store is opened, and closed by `aclose`. Raises StorageFailedError where the
    store fails.
    """

    def __init__(self, store: SqliteStore | str | os.PathLike[str], *, scope_key: str = "global") -> None:
        self.scope_key = check_scope_key(scope_key)
        self._keep_in(store)
        self._rows = SqliteConversationRows(self._store, self.scope_key)

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        found = await run_in_thread(self._rows.record, check_name(conversation_id, _ID))
        return None if found is None else _RECORDS.validate_json(found)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        found = await run_in_thread(self._rows.records, scope, limit)
        return list(map(_RECORDS.validate_json, found))

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        row = _row(record)
        entries = [EntryRow(entry.id, entry.parent_id, _dumped(entry.message)) for entry in new_entries]
        if not await run_in_thread(self._rows.write, row, record.branches, entries, expected_revision):
            raise ConversationConflict(record.conversation_id)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        if not await run_in_thread(self._rows.delete, check_name(conversation_id, _ID), expected_revision):
            raise ConversationConflict(conversation_id)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        return (await self.read_history(entry_id, limit=1))[0]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        if head_id is None or limit == 0:
            return []
        line = await run_in_thread(self._rows.history, head_id, limit)
        messages = ModelMessagesTypeAdapter.validate_json(f"[{','.join(entry.message for entry in line)}]")
        return [
            ConversationEntry(id=entry.id, parent_id=entry.parent, message=message)
            for entry, message in zip(line, messages, strict=True)
        ]

    async def keep_pause(self, conversation_id: str, run_id: str, snapshot: Snapshot) -> None:
        await run_in_thread(self._rows.keep_pause, check_name(conversation_id, _ID), run_id, json.dumps(snapshot))

    async def find_pause(self, run_id: str) -> Snapshot | None:
        found = await run_in_thread(self._rows.pause, check_storable(run_id, "the id of a run"))
        return None if found is None else json.loads(found)

    async def drop_pause(self, run_id: str) -> None:
        await run_in_thread(self._rows.drop_pause, run_id)

    def __repr__(self) -> str:
        return f"SqliteConversations({self._store.path!r}, scope_key={self.scope_key!r})"


def _row(record: ConversationRecord) -> ConversationRow:
    if record.scope is not None:
        check_storable(record.scope, "the scope of a conversation")
    return ConversationRow(
        check_name(record.conversation_id, _ID),
        record.scope,
        record.head_id,
        record.revision,
        to_microseconds(record.updated_at),
        _RECORDS.dump_json(record).decode(),
    )


def _dumped(message: ModelMessage) -> str:
    try:
        return ModelMessagesTypeAdapter.dump_json([message]).decode()[1:-1]
    except PydanticSerializationError as error:
        raise MemoryInvalidError(f"a message of the conversation cannot be written as JSON: {error}") from error
