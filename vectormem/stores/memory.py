"""Rows in this process only."""

import threading
from collections.abc import Callable, Sequence

from vectormem.concurrency import ForkAware, run_in_thread
from vectormem.index.vectors import INLINE_COST, Wanted
from vectormem.stores.rows import Found, Rows, T, VectorKind, VectorStore
from vectormem.stores.table import Table


class DictStore(ForkAware, VectorStore):
    """One table a key, lost when the process ends. Work is short, so it runs where it is called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[str, Table] = {}
        self._resting: list[Table] = []
        super().__init__()

    async def read(self, scope_key: str, work: Callable[[Rows], T], *, brief: bool = False) -> T:
        return self._with_table(scope_key, work)

    async def search(self, scope_key: str, kind: VectorKind, wanted: Wanted) -> Found:
        def work(table: Table) -> Found:
            return table.search(kind, wanted)

        table = self._tables.get(scope_key)
        if table is None or table.search_cost(kind) <= INLINE_COST:
            return self._with_table(scope_key, work)
        return await run_in_thread(self._with_table, scope_key, work)

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        return self._with_table(scope_key, work)

    async def scope_keys(self) -> Sequence[str]:
        return sorted(key for key, table in list(self._tables.items()) if table.count())

    async def aclose(self) -> None:
        pass

    def _with_table(self, scope_key: str, work: Callable[[Table], T]) -> T:
        while True:
            with self._lock:
                table = self._tables.setdefault(scope_key, Table())
            with table.lock:
                if self._tables.get(scope_key) is not table:
                    continue  # it was dropped as blank in between
                try:
                    return work(table)
                finally:
                    if table.is_blank:
                        del self._tables[scope_key]  # without `_lock`: a fork takes that one first

    def _before_fork(self) -> None:
        self._lock.acquire()
        self._resting = list(self._tables.values())
        for table in self._resting:
            table.lock.acquire()

    def _after_fork_in_parent(self) -> None:
        while self._resting:
            self._resting.pop().lock.release()
        self._lock.release()

    def _after_fork_in_child(self) -> None:
        self._lock = threading.Lock()
        self._resting.clear()
        for table in self._tables.values():
            table.lock = threading.RLock()
