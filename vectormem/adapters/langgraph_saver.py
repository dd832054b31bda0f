"""LangGraph's checkpointer in the file that holds memory."""

import os
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from vectormem.adapters.kept import KeptInSqlite
from vectormem.adapters.missing import missing_extra
from vectormem.canonical import check_storable
from vectormem.checks import check_limit
from vectormem.concurrency import run_in_thread
from vectormem.errors import MemoryInvalidError
from vectormem.ranking.filters import compile_filter
from vectormem.stores.sqlite.checkpoints import TABLES, Checkpoints, Place, StoredCheckpoint, Typed, Write
from vectormem.stores.sqlite.store import SqliteStore

try:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        get_checkpoint_metadata,
    )
    from langgraph.checkpoint.serde.base import SerializerProtocol
except ImportError as error:
    raise missing_extra("langgraph", error) from error

T = TypeVar("T")

_PAGE = 50
_ALL = -1
_DELTA_COUNTERS = "counters_since_delta_snapshot"


class VectormemSaver(KeptInSqlite, BaseCheckpointSaver[Any]):
    """A LangGraph checkpointer in a SQLite file; several processes may use it at once.

    Everything of a graph's state is in there, also what a paused run has recalled: keep the file as safely
    as memory. The order of the checkpoints is that in which they were stored, whatever the clock says. A
    value that a thread holds already is stored once, however many checkpoints have it. With a serializer
    that encrypts, metadata is encrypted too. Raises MemoryInvalidError, a ValueError, for a config without
    what is needed, and StorageFailedError where the file fails.
    """

    def __init__(self, store: SqliteStore | str | os.PathLike[str], *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._keep_in(store)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or the latest one of its thread; None where there is none."""
        thread, ns, named = _thread(config), _ns(config), _id(config)

        def find(rows: Checkpoints) -> tuple[StoredCheckpoint, dict[str, Typed], Sequence[Write]] | None:
            found = rows.latest(thread, ns) if named is None else rows.get(Place(thread, ns, named))
            return None if found is None else (found, rows.values(found), rows.writes(found.place))

        found = self._read(find)
        return None if found is None else self._tuple(*found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the latest first: those of the config's thread, whose metadata match the filter."""
        wanted, admits, left = _wanted(config), compile_filter(filter), None if limit == 0 else check_limit(limit)
        seq = None if before is None else self._read(lambda rows: _seq_of(rows, {**wanted, **_wanted(before)}))
        while limit != 0:
            page = self._read(lambda rows, seq=seq: self._page(rows, wanted, seq))  # type: ignore[misc]
            for stored, values, writes in page:
                found = self._tuple(stored, values, writes)
                if admits(found.metadata):
                    yield found
                    left = None if left is None else left - 1
                    if left == 0:
                        return
                seq = stored.seq
            if len(page) < _PAGE:
                return

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the latest of its thread; return the config that names it."""
        place = Place(_thread(config), _ns(config), check_storable(checkpoint["id"], "the id of a checkpoint"))
        known = get_checkpoint_metadata(config, metadata)
        state = {name: value for name, value in checkpoint.items() if name != "channel_values"}
        values = {name: self.serde.dumps_typed(value) for name, value in checkpoint["channel_values"].items()}
        run = known.get("run_id")
        stored = (self.serde.dumps_typed(state), self.serde.dumps_typed(dict(known)), values)
        self._change(lambda rows: rows.put(place, _id(config), None if run is None else str(run), *stored))
        return _config(place)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote beside the checkpoint that the config names; a second time, nothing changes."""
        named = _id(config)
        if named is None:
            raise MemoryInvalidError("writes are stored beside a checkpoint: the config must have a checkpoint_id")
        place = Place(_thread(config), _ns(config), named)
        rows = [
            Write(task_path, task_id, WRITES_IDX_MAP.get(channel, n), channel, *self.serde.dumps_typed(value))
            for n, (channel, value) in enumerate(writes)
        ]
        replace = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        self._change(lambda stored: stored.put_writes(place, rows, replace=replace))

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints and writes of a thread."""
        self._change(lambda rows: rows.delete_thread(str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of these runs with their writes."""
        self._change(lambda rows: rows.delete(rows.of_runs([str(run) for run in run_ids])))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread into another one."""
        self._change(lambda rows: rows.copy_thread(str(source_thread_id), str(target_thread_id)))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all checkpoints of these threads but the latest of each namespace, or all with "delete".

        Those that the latest one builds on stay, where a channel of the graph stores differences alone.
        """
        if strategy not in ("keep_latest", "delete"):
            raise MemoryInvalidError(f'strategy must be "keep_latest" or "delete", not {strategy!r}')

        def work(rows: Checkpoints) -> None:
            for thread in map(str, thread_ids):
                if strategy == "delete":
                    rows.delete_thread(thread)
                else:
                    stored = rows.page({"thread": thread}, None, _ALL)
                    kept = self._kept(rows, stored)
                    rows.delete([one for one in stored if one.seq not in kept])

        self._change(work)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await run_in_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await run_in_thread(next, found, None)) is not None:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await run_in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await run_in_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await run_in_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await run_in_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await run_in_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await run_in_thread(self.prune, thread_ids, strategy=strategy)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the next version of a channel; those of threads that came from another checkpointer may be texts."""
        if not isinstance(current, str):
            return 1 if current is None else current + 1
        return f"{int(current.split('.')[0]) + 1:032}.{random.random():016}"

    def _read(self, work: Callable[[Checkpoints], T]) -> T:
        return self._store.read(lambda connection: work(Checkpoints(TABLES.seen_in(connection))))

    def _change(self, work: Callable[[Checkpoints], T]) -> T:
        return self._store.write(lambda connection: work(Checkpoints(TABLES.made_in(connection))))

    def _page(
        self, rows: Checkpoints, wanted: Mapping[str, str], before: int | None
    ) -> Sequence[tuple[StoredCheckpoint, dict[str, Typed], Sequence[Write]]]:
        return [(one, rows.values(one), rows.writes(one.place)) for one in rows.page(wanted, before, _PAGE)]

    def _kept(self, rows: Checkpoints, stored: Sequence[StoredCheckpoint]) -> set[int]:
        """Return the latest checkpoint of each namespace, and those whose differences it needs."""
        by_place = {one.place: one for one in stored}
        latest = {one.ns: one for one in reversed(stored)}
        kept: set[int] = set()
        for head in latest.values():
            metadata = self.serde.loads_typed((head.metadata_type, head.metadata))
            missing = set(metadata.get(_DELTA_COUNTERS) or ()) - rows.values(head).keys()
            one: StoredCheckpoint | None = head
            while one is not None and one.seq not in kept:
                kept.add(one.seq)
                missing -= rows.values(one).keys()
                one = by_place.get(Place(one.thread, one.ns, one.parent)) if missing and one.parent else None
        return kept

    def _tuple(self, stored: StoredCheckpoint, values: Mapping[str, Typed], writes: Sequence[Write]) -> CheckpointTuple:
        load = self.serde.loads_typed
        checkpoint = load((stored.type, stored.checkpoint))
        checkpoint["channel_values"] = {name: load(value) for name, value in values.items()}
        parent = None if stored.parent is None else _config(stored.place._replace(id=stored.parent))
        pending = [(one.task, one.channel, load((one.type, one.value))) for one in writes]
        metadata = load((stored.metadata_type, stored.metadata))
        return CheckpointTuple(_config(stored.place), checkpoint, metadata, parent, pending)


def _thread(config: RunnableConfig) -> str:
    thread_id = config.get("configurable", {}).get("thread_id")
    if thread_id is None or thread_id == "":
        raise MemoryInvalidError('a checkpointer needs a thread_id: {"configurable": {"thread_id": ...}}')
    return check_storable(str(thread_id), "thread_id")


def _ns(config: RunnableConfig) -> str:
    return check_storable(config["configurable"].get("checkpoint_ns") or "", "checkpoint_ns")


def _id(config: RunnableConfig) -> str | None:
    named = config["configurable"].get("checkpoint_id")
    return check_storable(str(named), "checkpoint_id") if named else None


def _wanted(config: RunnableConfig | None) -> dict[str, str]:
    """Return what a config says of checkpoints, by column."""
    given = {} if config is None else config.get("configurable", {})
    names = {"thread": "thread_id", "ns": "checkpoint_ns", "id": "checkpoint_id"}
    return {column: str(given[name]) for column, name in names.items() if given.get(name) is not None}


def _seq_of(rows: Checkpoints, wanted: Mapping[str, str]) -> int:
    """Return the place in the order of the checkpoint that is named; 0, before all, where it is not stored."""
    found = rows.page(wanted, None, 1) if "id" in wanted else []
    return found[0].seq if found else 0


def _config(place: Place) -> RunnableConfig:
    return {
        "configurable": {"thread_id": place.thread, "checkpoint_ns": place.ns, "checkpoint_id": place.id},
    }
