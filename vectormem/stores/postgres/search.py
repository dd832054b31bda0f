"""The nearest vectors of a key: all compared while they are few, through an index once they are many."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vectormem.index.search import TOLERANCE, best
from vectormem.index.vectors import TWO_STAGE_FLOATS, Wanted
from vectormem.stores.postgres.connection import Connection
from vectormem.stores.postgres.indexes import MOST_INDEXED, Indexes
from vectormem.stores.postgres.rows import PostgresRows, db_vector, vector_of
from vectormem.stores.rows import Found, Row, VectorKind

_SPARE = 16
_FEWEST_CANDIDATES = 200
_CANDIDATES_PER_RESULT = 6
_CANDIDATE_GROWTH = 0.3
_MOST_CANDIDATES = 1000  # what pgvector takes as hnsw.ef_search
_ROWS = (
    "SELECT i.seq, i.id, i.text, i.metadata, i.created_at, near.embedding FROM near"
    " JOIN memory_items AS i ON i.key_id=%s AND i.seq=near.seq"
)
_EXACT = (
    "WITH near AS MATERIALIZED (SELECT seq, embedding FROM ("
    "SELECT seq, embedding, embedding <#> %b AS distance FROM memory_vectors WHERE key_id=%s AND dimensions=%s"
    " AND embedder_id=(SELECT id FROM memory_embedders WHERE name=%s) OFFSET 0"  # so that it is computed once
    f") AS scored WHERE distance <= %s ORDER BY distance, seq DESC LIMIT %s) {_ROWS}"
)
_COUNT = (
    "SELECT count(*) FROM memory_vectors WHERE key_id=%s AND dimensions=%s"
    " AND embedder_id=(SELECT id FROM memory_embedders WHERE name=%s)"
)
_INDEX_SETTINGS = (
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),"
    " set_config('hnsw.max_scan_tuples', '2147483647', true), set_config('enable_sort', 'off', true),"
    " set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)"
)


def search(connection: Connection, rows: PostgresRows, kind: VectorKind, wanted: Wanted, indexes: Indexes) -> Found:
    """Return the best rows, best first, by exact cosines of vectors of unit length.

    pgvector's negative inner product chooses: it orders as the cosine does, and a zero vector has 0 there.
    Some spare rows are taken, and the scores of all of them, computed here, decide.
    """
    if not wanted.query.any():
        return Found([], rows.count() - _count(connection, rows, kind))
    found = _by_index(connection, rows, kind, wanted, indexes) if _is_large(rows, kind, wanted) else None
    if found is None:
        found = _by_comparing_all(connection, rows, kind, wanted)
    ranked = _ranked(found, kind, wanted)
    is_full = wanted.limit is not None and len(ranked) == wanted.limit
    return Found(ranked, 0 if is_full else rows.count() - _count(connection, rows, kind))


def _is_large(rows: PostgresRows, kind: VectorKind, wanted: Wanted) -> bool:
    if wanted.exact or wanted.limit is None or kind.dimensions > MOST_INDEXED:
        return False
    return rows.count() * kind.dimensions >= TWO_STAGE_FLOATS


def _by_comparing_all(connection: Connection, rows: PostgresRows, kind: VectorKind, wanted: Wanted) -> list[Any]:
    furthest = -(wanted.min_score - 2 * TOLERANCE)
    limit = None if wanted.limit is None else wanted.limit + _SPARE
    values = (db_vector(wanted.query), rows.key_id, kind.dimensions, kind.embedder, furthest, limit, rows.key_id)
    return connection.query(_EXACT, values)


def _by_index(
    connection: Connection, rows: PostgresRows, kind: VectorKind, wanted: Wanted, indexes: Indexes
) -> list[Any] | None:
    """Return the nearest rows by the index of the key, or None where it has none yet or it finds too few."""
    limit = (wanted.limit or 0) + _SPARE
    if limit > _MOST_CANDIDATES:
        return None
    index = indexes.find(connection, rows.key_id, kind)
    if index is None:
        return None
    connection.execute(_INDEX_SETTINGS, (str(_candidates(limit, rows.count())),))
    near = f"WITH near AS MATERIALIZED ({index.nearest}) {_ROWS}"
    values = (db_vector(wanted.query), limit, rows.key_id)
    found = connection.query(near, values)
    return found if len(found) == limit else None


def _candidates(limit: int, items: int) -> int:
    """Return how many rows the index should look at; measured on real text embeddings, for a recall of 0.99."""
    growth = max(1.0, (items / 100_000) ** _CANDIDATE_GROWTH)
    return min(_MOST_CANDIDATES, int(max(_FEWEST_CANDIDATES, _CANDIDATES_PER_RESULT * limit) * growth))


def _ranked(found: Sequence[Any], kind: VectorKind, wanted: Wanted) -> list[tuple[Row, float]]:
    rows = {row[0]: Row._make(row[:5]) for row in found}
    matrix = np.stack([vector_of(row[5]) for row in found]) if found else np.empty((0, kind.dimensions), np.float32)
    hits = best(np.fromiter(rows, np.int64, len(rows)), matrix, wanted.query, wanted.limit, wanted.min_score)
    return [(rows[hit.seq], hit.score) for hit in hits]


def _count(connection: Connection, rows: PostgresRows, kind: VectorKind) -> int:
    values = (rows.key_id, kind.dimensions, kind.embedder)
    return int(connection.query(_COUNT, values)[0][0])
