"""A LangChain vector store in the file that holds memory: documents with their vectors, ranked by exact cosines."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from embedders import Embedder
from vectormem.adapters.kept import KeptInSqlite
from vectormem.adapters.langchain_embedder import AnyEmbedder
from vectormem.adapters.langchain_reindex import reindex
from vectormem.adapters.missing import missing_extra
from vectormem.canonical import encode_object
from vectormem.checks import check_name, check_positive
from vectormem.concurrency import run_in_thread
from vectormem.errors import MemoryInvalidError
from vectormem.index.array import Matrix, Vector
from vectormem.origin import new_uuid, utc_now
from vectormem.ranking.filters import compile_filter
from vectormem.stores.rows import VectorKind, to_microseconds
from vectormem.stores.sqlite.document_space import Document as Row
from vectormem.stores.sqlite.document_space import Draft
from vectormem.stores.sqlite.documents import DocumentReader, Documents
from vectormem.stores.sqlite.store import SqliteStore

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance
except ImportError as error:
    raise missing_extra("langgraph", error) from error

Filter: TypeAlias = Mapping[str, Any] | Callable[[Document], bool] | None

_ROOT = "langchain"
_ID = "the id of a document"


class _Hit(NamedTuple):
    document: Document
    score: float
    row: Row


class VectormemVectorStore(KeptInSqlite, VectorStore):
    """A LangChain `VectorStore`: one collection of a SQLite file, which several processes may use at once.

    `embedding` is a LangChain model or an embedder of vectormem; `embedder_id` names a model that is known by
    its class alone. Scores are cosines, from -1 to 1. `filter` is an object of metadata fields, with
    operators such as {"year": {"$gte": 2020}}, or a function of the document, and holds before the best k
    are taken. Added documents are stored all or none; one under a stored id replaces what is there. Raises
    MemoryInvalidError, a ValueError, for what cannot be stored or asked.
    """

    def __init__(
        self,
        store: SqliteStore | str | os.PathLike[str],
        embedding: Embeddings | Embedder,
        *,
        collection: str = "documents",
        embedder_id: str | None = None,
    ) -> None:
        self._path = (check_name(collection, "collection"),)
        self._keep_in(store)
        self._documents = Documents(self._store, _ROOT)
        self._embeddings = embedding if isinstance(embedding, Embeddings) else None
        self._embedding = AnyEmbedder(embedding, id=embedder_id)

    @property
    def embeddings(self) -> Embeddings | None:
        """The LangChain model, where one was given."""
        return self._embeddings

    def add_documents(self, documents: list[Document], ids: Sequence[str | None] | None = None, **_: Any) -> list[str]:
        """Store documents under `ids`, their own or new ones; return the ids in order."""
        drafts, texts = self._drafts(documents, ids)
        return self._put(drafts, self._embedding.embed(texts, "document")) if texts else []

    async def aadd_documents(
        self, documents: list[Document], ids: Sequence[str | None] | None = None, **_: Any
    ) -> list[str]:
        """Store documents under `ids`, their own or new ones; return the ids in order."""
        drafts, texts = self._drafts(documents, ids)
        return await run_in_thread(self._put, drafts, await self._embedding.aembed(texts, "document")) if texts else []

    def delete(self, ids: Sequence[str] | None = None, **_: Any) -> bool:
        """Delete the documents with these ids, those that are there; without ids, all of the collection."""
        if ids is None:
            self._documents.change(lambda writer: writer.clear(self._path))
        else:
            keys = [check_name(key, _ID) for key in ids]
            self._documents.change(lambda writer: [writer.delete(self._path, key) for key in keys])
        return True

    async def adelete(self, ids: Sequence[str] | None = None, **_: Any) -> bool:
        """Delete without blocking the event loop."""
        return await run_in_thread(self.delete, ids)

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids, in their order; absent ones are left out."""
        keys = [check_name(key, _ID) for key in ids]
        found = self._documents.read(lambda reader: [reader.get(self._path, key) for key in keys])
        return [_document(row) for row in found if row is not None]

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the same without blocking the event loop."""
        return await run_in_thread(self.get_by_ids, ids)

    def similarity_search(self, query: str, k: int = 4, filter: Filter = None, **_: Any) -> list[Document]:
        """Return the `k` documents nearest to the query, nearest first."""
        return [document for document, _ in self.similarity_search_with_score(query, k, filter)]

    async def asimilarity_search(self, query: str, k: int = 4, filter: Filter = None, **_: Any) -> list[Document]:
        """Return the same without blocking the event loop."""
        return [document for document, _ in await self.asimilarity_search_with_score(query, k, filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Filter = None, **_: Any
    ) -> list[tuple[Document, float]]:
        """Return the same with their cosines."""
        return self._scored(self._embedding.embed([_checked_query(query)], "query")[0], k, filter)

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, filter: Filter = None, **_: Any
    ) -> list[tuple[Document, float]]:
        """Return the same with their cosines, without blocking the event loop."""
        vectors = await self._embedding.aembed([_checked_query(query)], "query")
        return await run_in_thread(self._scored, vectors[0], k, filter)

    def similarity_search_with_score_by_vector(
        self, embedding: Sequence[float], k: int = 4, filter: Filter = None, **_: Any
    ) -> list[tuple[Document, float]]:
        """Return the `k` documents nearest to a vector, with their cosines."""
        return self._scored(_unit(embedding), k, filter)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, filter: Filter = None, **_: Any
    ) -> list[Document]:
        """Return the `k` documents nearest to a vector, nearest first."""
        return [document for document, _ in self.similarity_search_with_score_by_vector(embedding, k, filter)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, filter: Filter = None, **_: Any
    ) -> list[Document]:
        """Return `k` of the nearest `fetch_k` documents, unlike each other the more `lambda_mult` falls from 1 to 0."""
        return self._diverse(
            self._embedding.embed([_checked_query(query)], "query")[0], k, fetch_k, lambda_mult, filter
        )

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, filter: Filter = None, **_: Any
    ) -> list[Document]:
        """Return the same without blocking the event loop."""
        vectors = await self._embedding.aembed([_checked_query(query)], "query")
        return await run_in_thread(self._diverse, vectors[0], k, fetch_k, lambda_mult, filter)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Filter = None,
        **_: Any,
    ) -> list[Document]:
        """Return the same for a vector."""
        return self._diverse(_unit(embedding), k, fetch_k, lambda_mult, filter)

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        store: SqliteStore | str | os.PathLike[str] = ":memory:",
        collection: str = "documents",
        **_: Any,
    ) -> Self:
        """Make a store, in memory where no other is named, and add texts to it."""
        made = cls(store, embedding, collection=collection)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def reindex(self, *, on_progress: Callable[[int, int], object] | None = None) -> int:
        """Embed the documents that have no vectors of this model, after a change of it; return how many."""
        return reindex(self._documents, self._path, self._embedding, _texts_of, on_progress)

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: max(0.0, cosine)

    def _drafts(self, documents: Iterable[Document], ids: Sequence[str | None] | None) -> tuple[list[Draft], list[str]]:
        given, now = list(documents), to_microseconds(utc_now())
        keys = [one.id for one in given] if ids is None else list(ids)
        if len(keys) != len(given):
            raise MemoryInvalidError(f"{len(keys)} ids were given for {len(given)} documents")
        drafts = [
            Draft(check_name(key or one.id or new_uuid(), _ID), _encoded(one), now, None)
            for one, key in zip(given, keys, strict=True)
        ]
        return drafts, [one.page_content for one in given]

    def _put(self, drafts: list[Draft], vectors: Matrix) -> list[str]:
        last = {draft.key: place for place, draft in enumerate(drafts)}

        def change(writer: Any) -> None:
            for place in last.values():
                writer.put(self._path, drafts[place], self._embedding.id, vectors[place : place + 1])

        self._documents.change(change)
        return [draft.key for draft in drafts]

    def _scored(self, query: Vector, k: int, filter: Filter) -> list[tuple[Document, float]]:
        hits = self._documents.read(lambda reader: self._hits(reader, query, k, filter))
        return [(hit.document, hit.score) for hit in hits]

    def _hits(self, reader: DocumentReader, query: Vector, k: int, filter: Filter) -> list[_Hit]:
        admits, most = _predicate(filter), check_positive(k, "k")
        kind = VectorKind(self._embedding.id, len(query))
        found = (_Hit(_document(row), score, row) for row, score in reader.nearest(self._path, kind, query, first=most))
        return list(islice((hit for hit in found if admits(hit.document)), most))

    def _diverse(self, query: Vector, k: int, fetch_k: int, lambda_mult: float, filter: Filter) -> list[Document]:
        def work(reader: DocumentReader) -> tuple[list[_Hit], list[Matrix]]:
            hits = self._hits(reader, query, max(fetch_k, check_positive(k, "k")), filter)
            return hits, reader.vectors_of([hit.row for hit in hits], VectorKind(self._embedding.id, len(query)))

        hits, vectors = self._documents.read(work)
        if not hits:
            return []
        chosen = maximal_marginal_relevance(query, [matrix[0] for matrix in vectors], lambda_mult=lambda_mult, k=k)
        return [hits[place].document for place in chosen]


def _checked_query(query: object) -> str:
    if not isinstance(query, str):
        raise MemoryInvalidError(f"the query must be a string, not {query!r}")
    return query.encode(errors="replace").decode()


def _encoded(document: Document) -> str:
    return encode_object({"text": document.page_content, "metadata": document.metadata}, "a document")


def _document(row: Row) -> Document:
    value = json.loads(row.value)
    return Document(id=row.key, page_content=value["text"], metadata=value["metadata"])


def _texts_of(row: Row) -> list[str]:
    return [json.loads(row.value)["text"]]


def _predicate(filter: Filter) -> Callable[[Document], bool]:
    if callable(filter):
        return filter
    admits = compile_filter(filter)
    return lambda document: admits(document.metadata)


def _unit(vector: Sequence[float]) -> Vector:
    wide = np.asarray(vector, np.float64)
    if wide.ndim != 1 or not len(wide) or not np.isfinite(wide).all():
        raise MemoryInvalidError("the vector of a query must be a list of finite numbers")
    scaled = wide / (np.abs(wide).max() or 1.0)
    return (scaled / (np.linalg.norm(scaled) or 1.0)).astype(np.float32)
