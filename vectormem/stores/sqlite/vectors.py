"""The stored vectors of one key and kind, read inside one transaction."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, cast

import apsw
import numpy as np

from vectormem.index.array import Matrix, Seqs
from vectormem.stores.rows import VectorKind

_CHUNK = 4096
_MOST_PARAMETERS = 500
_OF_KIND = "WHERE key_id=? AND embedder_id=? AND length(embedding)=?"


class SqlVectors:
    """Vectors as float32 arrays of shape (n, dimensions), with their sequence numbers."""

    def __init__(
        self, connection: apsw.Connection, key_id: int, kind: VectorKind, *, table: str = "memory_vectors"
    ) -> None:
        self.kind = kind
        self.connection = connection
        self.table = table
        self._key_id = key_id

    @cached_property
    def parameters(self) -> tuple[int, int, int]:
        """The number of the key and of the embedder (0: unknown), and the bytes of a vector."""
        sql = "SELECT id FROM memory_embedders WHERE name=?"
        found = self.connection.execute(sql, (self.kind.embedder,)).fetchall()
        return self._key_id, cast("int", found[0][0]) if found else 0, self.kind.dimensions * 4

    def of(self, seqs: Sequence[int] | Seqs) -> tuple[Seqs, Matrix]:
        """Return the vectors with these sequence numbers; absent ones are left out."""
        wanted = [int(seq) for seq in seqs]
        found: list[Any] = []
        for start in range(0, len(wanted), _MOST_PARAMETERS):
            chunk = wanted[start : start + _MOST_PARAMETERS]
            sql = f"SELECT seq, embedding FROM {self.table} {_OF_KIND} AND seq IN ({','.join('?' * len(chunk))})"
            found += self.connection.execute(sql, (*self.parameters, *chunk))
        return self._arrays(found)

    def after(self, seq: int) -> Iterator[tuple[Seqs, Matrix]]:
        """Yield the vectors beyond a sequence number in chunks, oldest first."""
        sql = f"SELECT seq, embedding FROM {self.table} {_OF_KIND} AND seq>? ORDER BY seq"
        cursor = self.connection.execute(sql, (*self.parameters, seq))
        while chunk := list(islice(cursor, _CHUNK)):
            yield self._arrays(chunk)

    def count(self) -> int:
        """Return how many there are; it goes through all of them."""
        return int(self.connection.execute(f"SELECT count(*) FROM {self.table} {_OF_KIND}", self.parameters).get)

    def _arrays(self, found: Sequence[tuple[int, bytes]]) -> tuple[Seqs, Matrix]:
        seqs = np.fromiter((seq for seq, _ in found), np.int64, len(found))
        matrix = np.frombuffer(b"".join(blob for _, blob in found), "<f4").reshape(len(found), self.kind.dimensions)
        return seqs, matrix
