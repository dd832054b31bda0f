"""JSON documents under paths, with any number of vectors each: what stores of other frameworks stand on."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import apsw

from vectormem.index.array import Matrix, Vector
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite.document_ranking import Ranked, by_index, by_scan
from vectormem.stores.sqlite.document_space import (
    COLUMNS,
    TABLES,
    Document,
    Draft,
    Path,
    Space,
    decode_path,
    encode_path,
    path_of,
)
from vectormem.stores.sqlite.search import KeySearch
from vectormem.stores.sqlite.store import SqliteStore
from vectormem.stores.sqlite.vectors import SqlVectors

T = TypeVar("T")

_MOST_MERGED = 64
_FROM = "FROM documents AS d JOIN document_spaces AS s ON s.id=d.space_id"
_BELOW = "s.path>=? AND s.path<?"


class Documents:
    """The documents of a `SqliteStore` below the label `root`; its tables are made by the first change. It blocks."""

    def __init__(self, store: SqliteStore, root: str) -> None:
        self._root = root
        self._search = KeySearch(store, _open_key)

    def read(self, work: Callable[["DocumentReader"], T]) -> T:
        """Return `work(reader)`, on one state of the file."""

        def look(connection: apsw.Connection) -> T:
            return work(DocumentReader(TABLES.seen_in(connection), self._search, self._root))

        return self._search.read(look)

    def change(self, work: Callable[["DocumentWriter"], T]) -> T:
        """Return `work(writer)`; all that it changed is stored together, or nothing where it fails."""

        def apply(connection: apsw.Connection) -> T:
            writer = DocumentWriter(TABLES.made_in(connection), self._search, self._root)
            result = work(writer)
            writer.finish()
            return result

        return self._search.write(apply)


class DocumentReader:
    """The documents that one transaction sees, below a root."""

    def __init__(self, connection: apsw.Connection, search: KeySearch, root: str) -> None:
        self._connection = connection
        self._search = search
        self._root = root

    def get(self, path: Path, key: str) -> Document | None:
        """Return the document with this key, whether its time is over or not."""
        return Space(self._connection, self._encode(path)).get(key)

    def newest(self, prefix: Path) -> Iterator[Document]:
        """Yield the documents at and below a path, the one changed last first."""
        yield from self._newest(prefix)

    def without_vector(self, prefix: Path, kind: VectorKind) -> Iterator[Document]:
        """Yield the documents that have no vector of this kind, the one changed last first."""
        has_one = (
            "SELECT 1 FROM document_vectors AS v JOIN memory_embedders AS e ON e.id=v.embedder_id"
            " WHERE v.document=d.seq AND e.name=? AND length(v.embedding)=?"
        )
        yield from self._newest(prefix, f"AND NOT EXISTS ({has_one})", kind.embedder, kind.dimensions * 4)

    def nearest(self, prefix: Path, kind: VectorKind, query: Vector, *, first: int) -> Ranked:
        """Return the documents with vectors of this kind and their best cosines, best first.

        They are read as they are asked for; about `first` are wanted. In a change it comes before the changes.
        """
        paths = self._paths(prefix)
        if len(paths) > _MOST_MERGED:
            return by_scan(self._connection, self._range(prefix), kind, query)
        spaces = [Space(self._connection, path) for path in paths]
        return by_index(spaces, self._search, kind, query, first)

    def vectors_of(self, documents: Sequence[Document], kind: VectorKind) -> list[Matrix]:
        """Return the vectors of each document, float32 of shape (n, dimensions), in the order they were stored in."""
        sql = "SELECT seq FROM document_vectors WHERE document=? ORDER BY seq"
        matrices = []
        for document in documents:
            seqs: list[Any] = self._connection.execute(sql, (document.seq,)).fetchall()
            matrices.append(Space(self._connection, document.path).vectors(kind).of([seq for (seq,) in seqs])[1])
        return matrices

    def paths(self, prefix: Path, now: int | None = None) -> list[Path]:
        """Return the paths at and below a path, sorted; with `now`, those with a document that is not over."""
        alive = "" if now is None else " AND (d.expires_at IS NULL OR d.expires_at>?)"
        sql = f"{_BELOW} AND EXISTS (SELECT 1 FROM documents AS d WHERE d.space_id=s.id{alive})"
        values = (*self._range(prefix), *(() if now is None else (now,)))
        return [self.path_of(path) for path in self._paths_where(sql, values)]

    def path_of(self, path: bytes) -> Path:
        """Return the path of a document below the root."""
        return decode_path(path)[1:]

    def _encode(self, path: Path) -> bytes:
        return encode_path((self._root, *path))

    def _range(self, prefix: Path) -> tuple[bytes, bytes]:
        first = self._encode(prefix)
        return first, first + b"\xff"  # no label holds this byte, as it is none of UTF-8

    def _paths(self, prefix: Path) -> list[bytes]:
        return self._paths_where(_BELOW, self._range(prefix))

    def _paths_where(self, condition: str, values: Sequence[Any]) -> list[bytes]:
        sql = f"SELECT s.path FROM document_spaces AS s WHERE {condition} ORDER BY s.path"
        return [path for (path,) in self._connection.execute(sql, values)]

    def _newest(self, prefix: Path, condition: str = "", *values: Any) -> Iterator[Document]:
        """Return documents, read as they are asked for, unless so many paths hold them that sorting is quicker."""
        paths = self._paths(prefix)
        if len(paths) > _MOST_MERGED:
            return self._select(_BELOW, condition, *self._range(prefix), *values)
        found = [self._select("s.path=?", condition, path, *values) for path in paths]
        return heapq.merge(*found, key=attrgetter("seq"), reverse=True)

    def _select(self, where: str, condition: str, *values: Any) -> Iterator[Document]:
        sql = f"SELECT {COLUMNS} {_FROM} WHERE {where} {condition} ORDER BY d.seq DESC"
        return map(Document._make, self._connection.execute(sql, values))


class DocumentWriter(DocumentReader):
    """The same, to change. What is changed comes after all searches."""

    def __init__(self, connection: apsw.Connection, search: KeySearch, root: str) -> None:
        super().__init__(connection, search, root)
        self._spaces: dict[bytes, Space] = {}

    def put(self, path: Path, draft: Draft, embedder: str, vectors: Matrix) -> None:
        """Store a document with its unit vectors, in place of one under the same key."""
        self._space(self._encode(path)).put(draft, embedder, vectors)

    def set_vectors(self, document: Document, embedder: str, vectors: Matrix) -> bool:
        """Give a document other vectors; return False where it is not there any more as it was read."""
        space = self._space(document.path)
        is_there = space.get(document.key) == document
        if is_there:
            space.set_vectors(document, embedder, vectors)
        return is_there

    def delete(self, path: Path, key: str) -> bool:
        """Delete a document; return False where there is none."""
        space = self._space(self._encode(path))
        document = space.get(key)
        if document is not None:
            space.delete(document)
        return document is not None

    def clear(self, path: Path) -> int:
        """Delete the documents at and below a path; return how many there were."""
        return self._delete_all(list(self.newest(path)))

    def sweep(self, now: int) -> int:
        """Delete the documents whose time is over, under whatever root; return how many there were."""
        sql = f"SELECT {COLUMNS} {_FROM} WHERE d.expires_at<=?"
        return self._delete_all([Document._make(row) for row in self._connection.execute(sql, (now,))])

    def renew(self, documents: Sequence[Document], now: int) -> None:
        """Let the time of documents that have one begin anew, where they are still there."""
        self._connection.executemany(
            "UPDATE documents SET expires_at=?+ttl WHERE seq=? AND updated_at=? AND ttl IS NOT NULL",
            ((now, document.seq, document.updated_at) for document in documents),
        )

    def finish(self) -> None:
        """Write the counters of what was changed."""
        for space in self._spaces.values():
            space.finish()

    def _delete_all(self, documents: Sequence[Document]) -> int:
        for document in documents:
            self._space(document.path).delete(document)
        return len(documents)

    def _space(self, path: bytes) -> Space:
        if path not in self._spaces:
            self._spaces[path] = Space(self._connection, path)
        return self._spaces[path]


def _open_key(connection: apsw.Connection, scope_key: str, kind: VectorKind) -> tuple[Space, SqlVectors]:
    space = Space(connection, path_of(scope_key))
    return space, space.vectors(kind)
