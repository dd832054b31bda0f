"""Rows in this process only."""

import threading
from collections.abc import Callable, Sequence

from vectormem.concurrency import ForkAware
from vectormem.stores.rows import ItemStore, Rows, T
from vectormem.stores.table import Table


class DictStore(ItemStore, ForkAware):
    """One table a key, lost when the process ends. Work is short, so it runs where it is called."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._tables: dict[str, Table] = {}

    async def read(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        with self._lock:
            return work(self._tables.get(scope_key) or Table())

    async def change(self, scope_key: str, work: Callable[[Rows], T]) -> T:
        with self._lock:
            table = self._tables.get(scope_key) or Table()
            result = work(table)
            if table.is_blank:
                self._tables.pop(scope_key, None)
            else:
                self._tables[scope_key] = table
            return result

    async def scope_keys(self) -> Sequence[str]:
        with self._lock:
            return sorted(key for key, table in self._tables.items() if table.count())

    async def aclose(self) -> None:
        pass

    def _after_fork_in_child(self) -> None:
        self._lock = threading.RLock()
