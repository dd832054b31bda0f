"""The HNSW indexes of large keys, each of the vectors of one key and kind, built in the background."""

import logging
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from vectormem.stores.postgres.connection import Connection
from vectormem.stores.postgres.errors import told
from vectormem.stores.rows import VectorKind

logger = logging.getLogger("vectormem")

MOST_INDEXED = 4000
"""Dimensions up to which pgvector builds an index, from 2,000 on of half precision."""

_MOST_FULL_PRECISION = 2000
_SECONDS_BETWEEN_TRIES = 30.0
_SECONDS_BETWEEN_CANCELS = 0.2
_BUILD_LOCK = 0x766D_6978  # "vmix": one program at a time builds
_FIND = (
    "SELECT e.id, coalesce(i.indisvalid, false) FROM memory_embedders AS e LEFT JOIN pg_index AS i"
    " ON i.indexrelid=to_regclass('memory_vectors_near_' || %s || '_' || e.id || '_' || %s) WHERE e.name=%s"
)


class NearIndex(NamedTuple):
    """An index by its key, embedder and dimensions, which are numbers and may stand in SQL as they are."""

    key_id: int
    embedder_id: int
    dimensions: int

    @property
    def name(self) -> str:
        """The name in the schema of the tables."""
        return f"memory_vectors_near_{self.key_id}_{self.embedder_id}_{self.dimensions}"

    @property
    def nearest(self) -> str:
        """The query that this index answers; its values are the vector and the limit."""
        return (
            f"SELECT seq, embedding FROM memory_vectors WHERE {self._condition}"
            f" ORDER BY (embedding::{self._type}) <#> %b::{self._type} LIMIT %s"
        )

    @property
    def creation(self) -> str:
        """The statement that builds it beside readers and writers."""
        return (
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {self.name} ON memory_vectors USING hnsw"
            f" ((embedding::{self._type}) {self._type.partition('(')[0]}_ip_ops) WHERE {self._condition}"
        )

    @property
    def _type(self) -> str:
        return f"{'vector' if self.dimensions <= _MOST_FULL_PRECISION else 'halfvec'}({self.dimensions})"

    @property
    def _condition(self) -> str:
        return f"key_id={self.key_id} AND embedder_id={self.embedder_id} AND dimensions={self.dimensions}"


class Indexes:
    """Finds the index of a key, and has it built where there is none; until then, all vectors are compared.

    One thread builds one index at a time. Where that fails, a warning says so once an index.
    """

    def __init__(self, connect: Callable[[], tuple[Connection, str]], *, builds: bool) -> None:
        self._connect = connect
        self._builds = builds
        self._lock = threading.Lock()
        self._wanted: list[NearIndex] = []
        self._tried: dict[NearIndex, float] = {}
        self._failed: set[NearIndex] = set()
        self._thread: threading.Thread | None = None
        self._building: Connection | None = None
        self._is_closed = False

    def find(self, connection: Connection, key_id: int, kind: VectorKind) -> NearIndex | None:
        """Return the index of a key, once it can be used."""
        found = connection.query(_FIND, (str(key_id), str(kind.dimensions), kind.embedder))
        if not found:
            return None
        ((embedder_id, is_valid),) = found
        index = NearIndex(key_id, embedder_id, kind.dimensions)
        if is_valid:
            return index
        self._want(index)
        return None

    def close(self) -> None:
        """Break off what is being built; what is left of it is removed when it is built again."""
        with self._lock:
            self._is_closed, self._wanted = True, []
            thread = self._thread
        while thread is not None and thread.is_alive():
            if (building := self._building) is not None:
                with suppress(psycopg.Error):
                    building.cancel_safe(timeout=5.0)
            thread.join(_SECONDS_BETWEEN_CANCELS)

    def wait(self) -> None:
        """Return when nothing is being built."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _want(self, index: NearIndex) -> None:
        with self._lock:
            is_known = index in self._wanted or index in self._failed
            is_recent = time.monotonic() < self._tried.get(index, -math.inf) + _SECONDS_BETWEEN_TRIES
            if not self._builds or self._is_closed or is_known or is_recent:
                return
            self._wanted.append(index)
            self._tried[index] = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._build_all, name="vectormem-index", daemon=True)
                self._thread.start()

    def _build_all(self) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._thread = None
                    return
                index = self._wanted[0]
            try:
                self._build(index)
            except psycopg.Error as error:
                self._give_up(index, error)
            with self._lock:
                self._wanted = self._wanted[1:]

    def _build(self, index: NearIndex) -> None:
        connection, search_path = self._connect()
        with connection:
            connection.wait_seconds = math.inf
            self._building = connection
            settings = "SELECT set_config('search_path', %s, false), set_config('statement_timeout', '0', false)"
            connection.execute(settings, (search_path,))
            if not self._is_closed and _one(connection, "SELECT pg_try_advisory_lock(%s)", _BUILD_LOCK):
                _drop_stale(connection, index)
                connection.execute(index.creation)
            self._building = None

    def _give_up(self, index: NearIndex, error: psycopg.Error) -> None:
        self._building = None
        if self._is_closed:
            return
        self._failed.add(index)
        place = " on the primary" if isinstance(error, psycopg.errors.ReadOnlySqlTransaction) else ""
        logger.warning(
            "the index %s could not be built (%s); searches of this key compare all its vectors until the owner of "
            "the tables runs%s: %s",
            index.name,
            told(error),
            place,
            index.creation,
        )


def _drop_stale(connection: Connection, index: NearIndex) -> None:
    """Drop what an interrupted build has left, and the indexes of keys that are gone."""
    stale = connection.execute(
        "SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid=i.indexrelid"
        " WHERE i.indrelid=to_regclass('memory_vectors') AND c.relname LIKE 'memory\\_vectors\\_near\\_%%'"
        " AND (c.relname=%s AND NOT i.indisvalid OR NOT EXISTS"
        " (SELECT 1 FROM memory_keys WHERE id=split_part(c.relname, '_', 4)::bigint))",
        (index.name,),
    ).fetchall()
    for (name,) in stale:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def _one(connection: Connection, query: Any, *values: Any) -> Any:
    row = connection.execute(query, values).fetchone()
    return None if row is None else row[0]
