"""The nearest vectors of a key straight from the file, without loading the key."""

import math
from typing import Any

import apsw
import numpy as np

from vectormem.index.search import TOLERANCE, Hit, best
from vectormem.index.vectors import Wanted
from vectormem.stores.sqlite.vectors import SqlVectors

_SPARE = 16
_RIGHT_ANGLE = math.sqrt(2)
_SCAN = f"""
SELECT seq, CASE WHEN embedding=zeroblob(?3) THEN {_RIGHT_ANGLE} ELSE vec_distance_l2(embedding, ?4) END AS distance
FROM {{table}} WHERE key_id=?1 AND embedder_id=?2 AND length(embedding)=?3
ORDER BY distance, seq DESC LIMIT ?5
"""


def scan(vectors: SqlVectors, wanted: Wanted) -> list[Hit]:
    """Return the best rows, best first, by exact cosines.

    On unit vectors the Euclidean distance d and the cosine c order alike, since d² = 2 - 2c; sqlite-vec
    computes d fastest. Some spare rows are taken, and the exact scores of all of them decide.
    """
    if not wanted.query.any():
        return []
    if not can_scan(vectors.connection):
        return _scan_here(vectors, wanted)
    limit = -1 if wanted.limit is None else wanted.limit + _SPARE
    found: list[Any] = vectors.connection.execute(
        _SCAN.format(table=vectors.table), (*vectors.parameters, wanted.query.tobytes(), limit)
    ).fetchall()
    furthest = 2 - 2 * (wanted.min_score - 2 * TOLERANCE)
    near = [int(seq) for seq, distance in found if distance * distance <= furthest]
    return best(*vectors.of(near), wanted.query, wanted.limit, wanted.min_score)


def can_scan(connection: apsw.Connection) -> bool:
    """Load sqlite-vec into the connection, where it is not yet; False where this machine has none."""
    try:
        connection.execute("SELECT vec_version()").fetchall()
    except apsw.SQLError:
        return _load_extension(connection)
    return True


def _load_extension(connection: apsw.Connection) -> bool:
    try:
        import sqlite_vec

        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
    except (ImportError, AttributeError, apsw.Error):
        return False
    connection.enable_load_extension(False)
    return True


def _scan_here(vectors: SqlVectors, wanted: Wanted) -> list[Hit]:
    """Do the same in numpy, a chunk of rows at a time."""
    hits: list[Hit] = []
    for seqs, matrix in vectors.after(0):
        hits += best(seqs, np.asarray(matrix), wanted.query, wanted.limit, wanted.min_score)
        hits = sorted(hits, key=lambda hit: (-hit.score, -hit.seq))[: wanted.limit]
    return hits
