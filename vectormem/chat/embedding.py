"""How the messages of a scope key get their vectors, after they have been stored."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from embedders import Embedder
from vectormem.chat.passages import context, passages
from vectormem.embedding import batch_size, check_embedder, embed
from vectormem.errors import EmbeddingError
from vectormem.index.array import Matrix, Vector
from vectormem.providers.base import Progress
from vectormem.stores.chats import ChatRows, ChatStore, Part, StoredMessage
from vectormem.stores.rows import VectorKind


class Pending(NamedTuple):
    """A message that lacks vectors, with the parts to embed."""

    message: StoredMessage
    parts: list[Part]


class MessageEmbedder:
    """Embeds stored messages of at least `shortest` characters, outside of any transaction.

    With `with_context`, each also gets a vector of itself together with the message that it answers.
    """

    def __init__(
        self, store: ChatStore, scope_key: str, embedder: Embedder, *, shortest: int, with_context: bool
    ) -> None:
        self._store = store
        self._scope_key = scope_key
        self._embedder = check_embedder(embedder)
        self._shortest = shortest
        self._with_context = with_context
        declared = getattr(embedder, "dimensions", None)
        self._dimensions: int = declared if isinstance(declared, int) and declared > 0 else 0

    @property
    def kind(self) -> VectorKind:
        """The vectors that can be compared; zero dimensions while they are not known."""
        return VectorKind(self._embedder.id, self._dimensions)

    async def query(self, text: str) -> Vector:
        """Return the unit vector of a query."""
        vector: Vector = (await self._embed([text], "query"))[0]
        return vector

    async def embed(self, seqs: Sequence[int]) -> int:
        """Give vectors to those of these messages that lack them; return how many changed."""
        pending = await self._store.read(self._scope_key, partial(self._pending_parts, seqs=seqs))
        texts = list(dict.fromkeys(part.text for one in pending for part in one.parts))
        if not texts:
            return 0
        vectors = dict(zip(texts, await self._embed(texts, "document"), strict=True))
        return await self._store.change(self._scope_key, partial(self._put, pending=pending, vectors=vectors))

    async def embed_pending(self, on_progress: Progress | None = None) -> int:
        """Embed what lacks a vector of this embedder, batch by batch; return how many messages changed."""
        await self._learn_dimensions()
        done, after = 0, 0
        total = await self._store.read(self._scope_key, self._count_pending)
        try:
            while seqs := await self._store.read(self._scope_key, partial(self._next_seqs, after=after)):
                done += await self.embed(seqs)
                after = seqs[-1]
                if on_progress:
                    on_progress(done, max(done, total))
        except EmbeddingError as error:
            raise EmbeddingError(
                f"{error}; {done} of {total} messages were embedded and stay so, call embed_pending() for the rest"
            ) from error
        return done

    async def _embed(self, texts: Sequence[str], kind: str) -> Matrix:
        vectors = await embed(self._embedder, texts, kind="query" if kind == "query" else "document")
        self._dimensions = vectors.shape[1]
        return vectors

    async def _learn_dimensions(self) -> None:
        """Embed one text where vectors of this embedder id are stored whose length may have changed."""
        if self._dimensions:
            return
        stored = await self._store.read(self._scope_key, lambda rows: rows.embedders(self._shortest))
        if any(kind is not None and kind.embedder == self._embedder.id for kind in stored):
            await self._embed(["dimensions"], "document")

    def _count_pending(self, rows: ChatRows) -> int:
        return rows.count_pending(self.kind, self._shortest, with_context=self._with_context)

    def _next_seqs(self, rows: ChatRows, after: int, limit: int | None = None) -> Sequence[int]:
        size = limit or batch_size(self._embedder)
        return rows.pending(self.kind, self._shortest, with_context=self._with_context, after=after, limit=size)

    def _pending_parts(self, rows: ChatRows, seqs: Sequence[int]) -> list[Pending]:
        lacking = [seq for seq in seqs if seq in self._next_seqs(rows, seq - 1, 1)]
        return [Pending(message, self._parts(rows, message)) for message in rows.by_seq(lacking)]

    def _put(self, rows: ChatRows, pending: Sequence[Pending], vectors: Mapping[str, Vector]) -> int:
        """Store vectors of the messages that are still what was embedded; return how many those are."""
        stored = 0
        for message, parts in pending:
            if rows.by_seq([message.seq]) == [message] and self._parts(rows, message) == parts:
                matrix = np.stack([vectors[part.text] for part in parts])
                rows.set_vectors(message.seq, self._embedder.id, parts, matrix)
                stored += 1
        return stored

    def _parts(self, rows: ChatRows, message: StoredMessage) -> list[Part]:
        own = passages(message.content)
        if not self._with_context:
            return own
        before = next(iter(rows.before(message)), None)
        return [*own, context(message.content, before.content if before else None)]
