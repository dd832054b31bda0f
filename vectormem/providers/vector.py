"""Providers that find items by meaning: every item is embedded, and ranked by cosine similarity."""

import logging
import math
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple, Unpack

from embedders import Embedder
from embedders.protocol import Kind
from vectormem.checks import check_scope_key, check_unit_interval
from vectormem.embedding import batch_size, check_embedder, embed
from vectormem.errors import EmbeddingError
from vectormem.index.array import Matrix
from vectormem.index.vectors import Wanted
from vectormem.items import MemoryItem
from vectormem.origin import Origin
from vectormem.providers.base import BuiltinProvider, Progress
from vectormem.providers.words import found_by_both, found_by_words
from vectormem.ranking.choice import Ranking, check_ranking
from vectormem.stores.rows import BRIEF, Embedding, Embeddings, Row, Rows, T, VectorKind, VectorStore, item_of

logger = logging.getLogger("vectormem")


class VectorProvider(BuiltinProvider):
    """A provider whose queries are embedded and compared with the items of the key.

    Only vectors of the same embedder id and length are compared. Items below `min_score` (a cosine from
    -1 to 1, inclusive) are left out; equal scores are newest first. Keys of more than eight million
    values (20,000 items of 384 dimensions) are searched in two stages that may miss one in a hundred of the
    best; with `exact`, never. A failing embedder raises EmbeddingError and stores nothing.

    `ranking` says what queries go by: "vector" as above; "keyword", BM25 over words, without a score and
    without embedding the query; "hybrid", words and meaning added. There too `score` is the cosine and
    `min_score` applies to it, and an item that shares a word that at most one item in twenty has is
    admitted beside.
    """

    def __init__(
        self,
        items: VectorStore,
        *,
        embedder: Embedder,
        max_items: int | None,
        min_score: float,
        exact: bool,
        ranking: Ranking = "vector",
        **origin: Unpack[Origin],
    ) -> None:
        super().__init__(items, max_items=max_items, **origin)
        self._vectors = items
        self.embedder = check_embedder(embedder)
        self.min_score = check_unit_interval(min_score, "min_score", lowest=-1)
        self.exact = exact
        self.ranking = check_ranking(ranking)
        self.ranks_by_meaning = ranking != "keyword"
        self._dimensions: int | None = _positive_or_none(getattr(embedder, "dimensions", None))
        self._warned: set[str] = set()

    async def reindex(self, scope_key: str | None = None, *, on_progress: Progress | None = None) -> int:
        """Embed again what has no vector of this embedder, in one key or all; return how many items.

        Each batch is swapped in on its own: old vectors serve until then, and what is done stays done
        where the embedder fails (EmbeddingError) or the process ends; the next call goes on from there.
        """
        keys = await self.scope_keys() if scope_key is None else [check_scope_key(scope_key)]
        done, total = 0, sum([await self._items.read(key, self._count_stale) for key in keys])
        try:
            for key in keys:
                async for changed in self._reindexed_batches(key):
                    done += changed
                    if on_progress:
                        on_progress(done, max(done, total))
        except EmbeddingError as error:
            raise EmbeddingError(
                f"{error}; {done} of {total} items were reindexed and stay so, call reindex() again for the rest"
            ) from error
        return done

    @property
    def _embedder_id(self) -> str:
        return self.embedder.id

    async def _ranked(self, key: str, query: str, limit: int | None) -> Sequence[MemoryItem]:
        if self.ranking == "keyword":
            return list(map(item_of, await found_by_words(self._vectors, key, query, limit)))
        vector = (await self._embed_checked([query], kind="query"))[0]
        kind = VectorKind(self.embedder.id, len(vector))
        wanted = Wanted(vector, limit, self.min_score, self.exact)
        if self.ranking == "hybrid":
            found = await found_by_both(self._vectors, key, query, kind, wanted)
        else:
            found = await self._vectors.search(key, kind, wanted)
        if found.skipped and key not in self._warned:
            self._warn_of_skipped(key, kind, await self._items.read(key, lambda rows: rows.vector_counts()))
        return [item_of(row, None if math.isnan(score) else score) for row, score in found.ranked]

    def _warn_of_skipped(self, key: str, kind: VectorKind, counts: dict[VectorKind | None, int]) -> None:
        others = [
            f"{count} without a vector" if other is None else f"{count} of {other.embedder!r} ({other.dimensions} d)"
            for other, count in counts.items()
            if other != kind
        ]
        if not others:  # they are gone by now
            return
        self._warned.add(key)
        logger.warning(
            "memory key %r: queries skip items that %r (%d d) has not embedded: %s; reindex(%r) adds them",
            key,
            kind.embedder,
            kind.dimensions,
            ", ".join(others),
            key,
        )

    async def _change(
        self,
        key: str,
        needed: Callable[[Rows], Collection[str]],
        apply: Callable[[Rows, Embeddings], T],
        *,
        texts: int = 1,
        on_batch: Callable[[int], object] | None = None,
    ) -> T:
        """Embed what the change needs, then apply it; what others changed meanwhile is looked at again."""
        embeddings: dict[str, Embedding] = {}
        missing = list(await self._items.read(key, needed, brief=texts <= BRIEF))
        while True:
            embeddings |= await self._embed(missing, on_batch)
            outcome = await self._items.change(key, partial(_apply_or_ask, needed, apply, embeddings))
            if not isinstance(outcome, _Missing):
                return outcome
            missing = outcome.texts

    async def _embed(
        self, texts: Sequence[str], on_batch: Callable[[int], object] | None = None
    ) -> dict[str, Embedding]:
        vectors = await self._embed_checked(texts, on_batch=on_batch)
        return {text: Embedding(self.embedder.id, vector) for text, vector in zip(texts, vectors, strict=True)}

    async def _embed_checked(
        self, texts: Sequence[str], *, kind: Kind = "document", on_batch: Callable[[int], object] | None = None
    ) -> Matrix:
        vectors = await embed(self.embedder, texts, kind=kind, on_batch=on_batch)
        if len(vectors):
            self._dimensions = vectors.shape[1]
        return vectors

    def _count_stale(self, rows: Rows) -> int:
        fresh = (count for kind, count in rows.vector_counts().items() if kind is not None and self._is_current(kind))
        return rows.count() - sum(fresh)

    def _is_current(self, kind: VectorKind) -> bool:
        return kind.embedder == self.embedder.id and self._dimensions in (None, kind.dimensions)

    async def _reindexed_batches(self, key: str) -> AsyncIterator[int]:
        """Reindex the key batch by batch; yield how many vectors each has changed."""
        after = 0
        while batch := await self._items.read(key, partial(self._stale_batch, after=after)):
            embeddings = await self._embed([row.text for row in batch])
            yield await self._items.change(key, partial(_swap_in, batch=batch, embeddings=embeddings))
            after = batch[-1].seq

    def _stale_batch(self, rows: Rows, after: int) -> list[Row]:
        """Return the next rows to embed. While the length of the vectors is not known, one row tells it."""
        size = batch_size(self.embedder) if self._dimensions or self._count_stale(rows) else 1
        return rows.without_vector(VectorKind(self.embedder.id, self._dimensions or 0), after, size)


class _Missing(NamedTuple):
    texts: list[str]


def _apply_or_ask(
    needed: Callable[[Rows], Collection[str]],
    apply: Callable[[Rows, Embeddings], T],
    embeddings: Embeddings,
    rows: Rows,
) -> T | _Missing:
    missing = [text for text in needed(rows) if text not in embeddings]
    return _Missing(missing) if missing else apply(rows, embeddings)


def _swap_in(rows: Rows, batch: Sequence[Row], embeddings: Embeddings) -> int:
    """Give the rows of the batch that are still there their new vectors, unless they have such ones by now."""
    changed = 0
    present = rows.by_seq([row.seq for row in batch])
    stored = rows.embeddings(present)
    for row in present:
        old, new = stored.get(row.seq), embeddings[row.text]
        if old is None or (old.embedder, len(old.vector)) != (new.embedder, len(new.vector)):
            rows.set_embedding(row, new)
            changed += 1
    return changed


def _positive_or_none(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
