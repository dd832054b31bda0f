"""Documents in the order of their nearest vectors: by an index of each path, or by one scan where paths are many."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias

import apsw
import numpy as np

from vectormem.index.array import Vector
from vectormem.index.search import exact_scores
from vectormem.index.vectors import Wanted
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.document_space import COLUMNS, Document, Space
from vectormem.stores.sqlite.search import KeySearch

Ranked: TypeAlias = Iterator[tuple[Document, float]]

_LOWEST_COSINE = -1.0
_LIMIT_GROWTH = 4
_CHUNK = 4096
_VECTORS = (
    "SELECT v.document, v.embedding FROM document_spaces AS s JOIN document_vectors AS v ON v.key_id=s.id"
    " WHERE s.path>=? AND s.path<? AND length(v.embedding)=?"
    " AND v.embedder_id=(SELECT id FROM memory_embedders WHERE name=?)"
)
_DOCUMENT = f"SELECT {COLUMNS} FROM documents AS d JOIN document_spaces AS s ON s.id=d.space_id WHERE d.seq=?"


def by_index(spaces: Sequence[Space], search: KeySearch, kind: VectorKind, query: Vector, first: int) -> Ranked:
    """Yield documents with their best cosines, best first; about `first` are wanted."""
    wanted = Wanted(query, first, _LOWEST_COSINE, exact=False)
    return heapq.merge(*(_of_space(space, search, kind, wanted) for space in spaces), key=itemgetter(1), reverse=True)


def by_scan(connection: apsw.Connection, path_range: tuple[bytes, bytes], kind: VectorKind, query: Vector) -> Ranked:
    """Yield the same from a range of paths, of which all vectors are read."""
    cursor: Any = connection.execute(_VECTORS, (*path_range, kind.dimensions * 4, kind.embedder))
    owners, scores = [np.empty(0, np.int64)], [np.empty(0)]
    while chunk := list(islice(cursor, _CHUNK)):
        matrix = np.frombuffer(b"".join(blob for _, blob in chunk), "<f4").reshape(len(chunk), kind.dimensions)
        owners.append(np.fromiter((owner for owner, _ in chunk), np.int64, len(chunk)))
        scores.append(exact_scores(matrix, query))
    of_all, seen = (np.concatenate(owners), np.concatenate(scores)), set()
    for place in np.lexsort(of_all)[::-1].tolist():
        owner = int(of_all[0][place])
        if owner not in seen:
            seen.add(owner)
            (found,) = connection.execute(_DOCUMENT, (owner,)).fetchall()
            yield Document._make(found), float(of_all[1][place])


def _of_space(space: Space, search: KeySearch, kind: VectorKind, wanted: Wanted) -> Ranked:
    vectors, compared, seen = space.vectors(kind), set[int](), set[int]()
    while True:
        hits, _ = search.nearest(space, vectors, wanted)
        new = {hit.seq: hit.score for hit in hits if hit.seq not in compared}
        compared |= new.keys()
        for seq, document in space.of_vectors(list(new)).items():
            if document.seq not in seen:
                seen.add(document.seq)
                yield document, new[seq]
        if wanted.limit is None or len(hits) < wanted.limit:
            return
        wanted = wanted._replace(limit=wanted.limit * _LIMIT_GROWTH)
