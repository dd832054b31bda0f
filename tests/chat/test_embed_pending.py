"""Catching up: embedding what is stored without a current vector."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from embedders import HashEmbedder
from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, EmbeddingError, SqliteStore

TEXTS = [f"message number {place:02} cos=0.{90 - place}" for place in range(25)]


class Batched(Marked):
    """Takes ten texts a call and may act before each call."""

    max_batch = 10

    def __init__(self, before=None, **options) -> None:
        super().__init__(**options)
        self.before = before

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
        if self.before is not None:
            await self.before(len(self.calls))
        return await super().embed(texts, kind=kind)


async def stored(store: SqliteStore) -> None:
    await fill(ChatStorage(store, embedder=Marked("old"), auto_embed_messages=False), *TEXTS)


def test_messages_are_embedded_in_batches_and_progress_is_told() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await stored(store)
            model, told = Batched(), []
            chat = ChatStorage(store, embedder=model)
            assert await chat.embed_pending(lambda *done: told.append(done)) == 25
            assert [len(texts) for _, texts in model.calls] == [10, 10, 5]
            assert told == [(10, 25), (20, 25), (25, 25)]
            assert await chat.embed_pending() == 0
            assert len(model.calls) == 3
            assert contents(await chat.search_messages("anything", limit=25)) == TEXTS

    asyncio.run(main())


def test_a_failure_keeps_what_is_done_and_the_next_call_goes_on() -> None:
    async def fail_at_third(calls: int) -> None:
        if calls == 2:
            raise ConnectionError("the model is gone")

    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await stored(store)
            with pytest.raises(EmbeddingError, match=r"the model is gone.*20 of 25 messages were embedded"):
                await ChatStorage(store, embedder=Batched(fail_at_third)).embed_pending()
            assert await ChatStorage(store, embedder=Batched()).embed_pending() == 5

    asyncio.run(main())


def test_what_changes_meanwhile_gets_no_vector_of_its_old_text() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await stored(store)
            other = ChatStorage(store, embedder=Marked("old"), auto_embed_messages=False)
            ids = [one.id for one in await other.messages("c")]

            async def change(calls: int) -> None:
                if calls == 0:
                    await other.delete_message(ids[0])
                    await other.save_message("c", "user", "edited meanwhile cos=0.10", id=ids[1])

            chat = ChatStorage(store, embedder=Batched(change))
            assert await chat.embed_pending() == 23
            assert contents(await chat.search_messages("anything", limit=99, min_similarity=0)) == TEXTS[2:]
            assert await chat.embed_pending() == 1

    asyncio.run(main())


def test_vectors_of_the_same_id_with_another_length_are_replaced() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await fill(ChatStorage(store, embedder=Marked()), *TEXTS[:3])

            chat = ChatStorage(store, embedder=Broad())
            assert await chat.embed_pending() == 3
            assert contents(await chat.search_messages("anything")) == TEXTS[:3]
            assert await chat.embed_pending() == 0

    class Broad:
        """Four dimensions that it does not declare, under the id of the two-dimensional model."""

        id = "marked"

        async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
            return np.pad(await Marked().embed(texts, kind=kind), ((0, 0), (0, 2)))

    asyncio.run(main())


def test_a_change_to_hybrid_ranking_adds_what_it_needs() -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            await fill(ChatStorage(store, embedder=HashEmbedder()), "were you away lately?", "yes, I was in Paris")
            hybrid = ChatStorage(store, embedder=HashEmbedder(), ranking="hybrid")
            assert contents(await hybrid.search_messages("Paris", min_similarity=0.1)) == ["yes, I was in Paris"]
            assert await hybrid.embed_pending() == 2
            assert await hybrid.embed_pending() == 0
            assert await ChatStorage(store, embedder=HashEmbedder()).embed_pending() == 0

    asyncio.run(main())
