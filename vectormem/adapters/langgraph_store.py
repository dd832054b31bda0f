"""LangGraph's long-term store in the file that holds memory, with vector search and a time to live."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

import numpy as np

from vectormem.adapters.kept import KeptInSqlite
from vectormem.adapters.langchain_embedder import AnyEmbedder
from vectormem.adapters.langchain_reindex import reindex
from vectormem.adapters.langgraph_ops import check_op, draft_of, item_of, namespaces
from vectormem.adapters.missing import missing_extra
from vectormem.checks import check_query
from vectormem.concurrency import run_in_thread
from vectormem.errors import MemoryInvalidError
from vectormem.index.array import Matrix, Vector
from vectormem.origin import utc_now
from vectormem.ranking.filters import compile_filter
from vectormem.stores.rows import VectorKind, to_microseconds
from vectormem.stores.sqlite.document_space import Document, Draft, Path, is_over
from vectormem.stores.sqlite.documents import DocumentReader, Documents, DocumentWriter
from vectormem.stores.sqlite.store import SqliteStore

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as error:
    raise missing_extra("langgraph", error) from error

_ROOT = "langgraph"
_MOST = 2**62
_NO_VECTORS = np.empty((0, 0), np.float32)


class _Batch(NamedTuple):
    """A batch that was checked as a whole: its puts by place, and the texts and queries to embed."""

    ops: list[Op]
    puts: dict[int, Draft | None]
    texts: dict[int, list[str]]
    queries: list[str]
    now: int


class _Vectors(NamedTuple):
    """The vectors of a batch, by text and by query."""

    texts: dict[str, Vector]
    queries: dict[str, Vector]


class VectormemStore(KeptInSqlite, BaseStore):
    """A LangGraph `BaseStore` in a SQLite file; several processes may use it at once.

    `index` is LangGraph's; its `embed` may also be an embedder of vectormem. `embedder_id` names a model that
    is known by its class alone. A batch is one transaction: its reads see the state before its writes, and
    the last of two writes under one key counts. An updated item keeps `created_at`. Results come last changed
    first; those of a query by cosine, then what has no vector. `ttl` is LangGraph's too, but an item that is
    over is not read, unless `omit_expired` is False, and every write deletes what is over. Raises
    MemoryInvalidError, a ValueError, for what cannot be stored or asked, before anything is changed.
    """

    supports_ttl = True

    def __init__(
        self,
        store: SqliteStore | str | os.PathLike[str],
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        embedder_id: str | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._keep_in(store)
        self._documents = Documents(self._store, _ROOT)
        self._clock = clock
        self.index_config = index.copy() if index else None
        self.ttl_config = ttl
        self._shows_expired = bool(ttl) and ttl.get("omit_expired") is False  # type: ignore[union-attr]
        self._embedding: AnyEmbedder | None = None
        self._fields: list[str | list[str]] = []
        if index:
            self._embedding = AnyEmbedder(index["embed"], id=embedder_id, dimensions=index.get("dims"))
            self._fields = _tokenized(index.get("fields") or ["$"])

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in one transaction; return their results in order."""
        batch = self._checked(ops)
        texts, model = _unique(batch.texts), self._embedding
        documents = model.embed(texts, "document") if model and texts else _NO_VECTORS
        queries = model.embed(batch.queries, "query") if model and batch.queries else _NO_VECTORS
        return self._run(batch, _vectors(texts, documents, batch.queries, queries))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in one transaction, without blocking the event loop."""
        batch = self._checked(ops)
        texts, model = _unique(batch.texts), self._embedding
        documents = await model.aembed(texts, "document") if model and texts else _NO_VECTORS
        queries = await model.aembed(batch.queries, "query") if model and batch.queries else _NO_VECTORS
        return await run_in_thread(self._run, batch, _vectors(texts, documents, batch.queries, queries))

    def sweep_ttl(self) -> int:
        """Delete the items whose time is over; return how many there were. Every write does so too."""
        now = self._now()
        return self._documents.change(lambda writer: writer.sweep(now))

    def reindex(self, *, on_progress: Callable[[int, int], object] | None = None) -> int:
        """Embed the items that have no vectors of this model, after a change of it; return how many.

        What is done stays done where the model fails (EmbeddingError). `on_progress` is called as
        (done, total).
        """
        if self._embedding is None:
            raise MemoryInvalidError("this store has no index, so there is nothing to embed with")
        return reindex(self._documents, (), self._embedding, self._stored_texts, on_progress)

    def _now(self) -> int:
        return to_microseconds(self._clock())

    def _checked(self, ops: Iterable[Op]) -> _Batch:
        batch = _Batch(list(ops), {}, {}, [], self._now())
        places: dict[tuple[Path, str], int] = {}
        for place, op in enumerate(batch.ops):
            check_op(op)
            if isinstance(op, PutOp):
                places[op.namespace, op.key] = place
            elif isinstance(op, SearchOp) and (query := check_query(op.query)) and query not in batch.queries:
                batch.queries.append(query)
        for place in places.values():
            op = batch.ops[place]
            assert isinstance(op, PutOp)
            batch.puts[place] = draft_of(op, batch.now)
            batch.texts[place] = self._texts(op.value, op.index)
        return batch

    def _texts(self, value: Mapping[str, Any] | None, index: Literal[False] | list[str] | None) -> list[str]:
        if value is None or index is False or self._embedding is None:
            return []
        fields = self._fields if index is None else _tokenized(index)
        found = (text for field in fields for text in get_text_at_path(value, field))  # type: ignore[arg-type]
        return list(dict.fromkeys(text for text in found if text.strip()))

    def _stored_texts(self, document: Document) -> list[str]:
        index = None if document.indexed is None else json.loads(document.indexed)
        return self._texts(json.loads(document.value), index)

    def _run(self, batch: _Batch, vectors: _Vectors) -> list[Result]:
        def read(reader: DocumentReader) -> tuple[list[Result], list[Document]]:
            touched: list[Document] = []
            return [self._answer(reader, op, batch.now, vectors, touched) for op in batch.ops], touched

        def change(writer: DocumentWriter) -> list[Result]:
            results, touched = read(writer)
            writer.renew(touched, batch.now)
            writer.sweep(batch.now)
            for place, draft in batch.puts.items():
                self._put(writer, batch.ops[place], draft, [vectors.texts[text] for text in batch.texts[place]])
            return results

        if batch.puts:
            return self._documents.change(change)
        results, touched = self._documents.read(read)
        if touched:
            self._documents.change(lambda writer: writer.renew(touched, batch.now))
        return results

    def _put(self, writer: DocumentWriter, op: Any, draft: Draft | None, vectors: list[Vector]) -> None:
        if draft is None:
            writer.delete(op.namespace, op.key)
        else:
            embedder = self._embedding.id if self._embedding else ""
            writer.put(op.namespace, draft, embedder, np.stack(vectors) if vectors else _NO_VECTORS)

    def _answer(self, reader: DocumentReader, op: Op, now: int, vectors: _Vectors, touched: list[Document]) -> Result:
        if isinstance(op, ListNamespacesOp):
            return namespaces(op, reader, None if self._shows_expired else now)
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            one = reader.get(op.namespace, op.key)
            found = [] if one is None or self._hides(one, now) else [(one, None)]
        else:
            found = self._found(reader, op, now, vectors.queries.get(check_query(op.query) or ""))
        if op.refresh_ttl:
            touched += [document for document, _ in found if document.ttl is not None]
        items = [item_of(reader, document, score) for document, score in found]
        if isinstance(op, SearchOp):
            return items
        return _plain(items[0]) if items else None

    def _found(
        self, reader: DocumentReader, op: SearchOp, now: int, query: Vector | None
    ) -> list[tuple[Document, Any]]:
        admits = compile_filter(op.filter)
        found = (
            (document, score)
            for document, score in self._candidates(reader, op, query)
            if not self._hides(document, now) and (not op.filter or admits(json.loads(document.value)))
        )
        return list(islice(found, min(op.offset, _MOST), min(op.offset + op.limit, _MOST)))

    def _candidates(
        self, reader: DocumentReader, op: SearchOp, query: Vector | None
    ) -> Iterator[tuple[Document, float | None]]:
        if self._embedding is None or query is None or not query.any():
            return ((document, None) for document in reader.newest(op.namespace_prefix))
        kind = VectorKind(self._embedding.id, len(query))
        nearest = reader.nearest(op.namespace_prefix, kind, query, first=min(max(1, op.offset + op.limit), _MOST))
        return chain(nearest, ((document, None) for document in reader.without_vector(op.namespace_prefix, kind)))

    def _hides(self, document: Document, now: int) -> bool:
        return not self._shows_expired and is_over(document, now)


def _plain(item: Item) -> Item:
    """Return an item as a get gives it, without a score."""
    return Item(
        value=item.value,
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _tokenized(fields: Iterable[str]) -> list[str | list[str]]:
    return [field if field == "$" else tokenize_path(field) for field in fields]


def _unique(texts: dict[int, list[str]]) -> list[str]:
    return list(dict.fromkeys(text for of_one in texts.values() for text in of_one))


def _vectors(texts: list[str], documents: Matrix, queries: list[str], of_queries: Matrix) -> _Vectors:
    """Pair texts and queries with their vectors; where there is no model, there are none."""
    return _Vectors(dict(zip(texts, documents, strict=True)), dict(zip(queries, of_queries, strict=False)))
