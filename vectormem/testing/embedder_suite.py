"""The conformance suite of an embedder."""

import asyncio

import numpy as np
import pytest

from embedders import Embedder
from embedders.protocol import Kind, Vectors
from vectormem.embedding import check_embedder
from vectormem.testing.suite import AsyncSuite

_KINDS: tuple[Kind, ...] = ("document", "query")

_TEXTS = [
    "The user likes tea.",
    "lives in Oslo",
    "Zażółć gęślą jaźń, İnci ß",
    "東京タワーに行った",
    "👩‍👩‍👧 🎉",
    "two\nlines\tand a tab",
    "word " * 400,
    "x",
]


class EmbedderSuite(AsyncSuite):
    """Every rule of an embedder, as tests for pytest.

    Subclass it as `Test...` and give the fixture `embedder`. Set `tolerance` where a model's vectors
    differ more with the texts beside them.
    """

    tolerance: float = 1e-4

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Return the embedder to test."""
        raise NotImplementedError("give the suite a fixture `embedder`")

    async def test_it_is_taken_by_providers(self, embedder: Embedder) -> None:
        assert check_embedder(embedder) is embedder

    async def test_its_id_does_not_change(self, embedder: Embedder) -> None:
        before = embedder.id
        await embedder.embed(_TEXTS)
        assert embedder.id == before

    @pytest.mark.parametrize("kind", _KINDS)
    async def test_it_returns_one_row_of_float32_for_each_text(self, embedder: Embedder, kind: Kind) -> None:
        vectors = await embedder.embed(_TEXTS, kind=kind)
        assert vectors.dtype == np.float32
        assert vectors.ndim == 2
        assert len(vectors) == len(_TEXTS)

    async def test_every_call_gives_as_many_dimensions(self, embedder: Embedder) -> None:
        lengths = {(await embedder.embed([text], kind=kind)).shape for text in _TEXTS for kind in _KINDS}
        assert len(lengths) == 1
        told = getattr(embedder, "dimensions", None)
        assert told is None or lengths == {(1, told)}

    async def test_no_text_gives_no_rows(self, embedder: Embedder) -> None:
        assert len(await embedder.embed([])) == 0

    async def test_every_value_is_finite(self, embedder: Embedder) -> None:
        assert np.isfinite(await embedder.embed([*_TEXTS, " ", "?!", "the"])).all()

    async def test_equal_texts_get_equal_vectors(self, embedder: Embedder) -> None:
        first, second = await embedder.embed(_TEXTS), await embedder.embed(_TEXTS)
        np.testing.assert_allclose(second, first, atol=self.tolerance)

    async def test_different_texts_get_different_vectors(self, embedder: Embedder) -> None:
        vectors = await embedder.embed(["The user likes tea.", "lives in Oslo"])
        assert not np.allclose(vectors[0], vectors[1], atol=self.tolerance)

    async def test_a_text_gets_the_same_vector_alone_and_among_others(self, embedder: Embedder) -> None:
        together = await embedder.embed(_TEXTS)
        alone = np.concatenate([await embedder.embed([text]) for text in _TEXTS])
        np.testing.assert_allclose(together, alone, atol=self.tolerance)

    async def test_rows_are_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forwards, backwards = await embedder.embed(_TEXTS), await embedder.embed(_TEXTS[::-1])
        np.testing.assert_allclose(backwards[::-1], forwards, atol=self.tolerance)

    async def test_it_takes_as_many_texts_as_it_says(self, embedder: Embedder) -> None:
        count = getattr(embedder, "max_batch", 96)
        vectors = await embedder.embed([_TEXTS[n % 2] for n in range(count)])
        np.testing.assert_allclose(vectors[::2], np.tile(vectors[0], (len(vectors[::2]), 1)), atol=self.tolerance)
        assert len(vectors) == count

    async def test_calls_at_the_same_time_do_not_mix_up_their_texts(self, embedder: Embedder) -> None:
        alone = [await embedder.embed([text]) for text in _TEXTS[:4]]
        together = await asyncio.gather(*(embedder.embed([text]) for text in _TEXTS[:4]))
        np.testing.assert_allclose(together, alone, atol=self.tolerance)

    def test_it_works_in_one_event_loop_after_another(self, embedder: Embedder) -> None:
        first, second = (asyncio.run(_embed(embedder)) for _ in range(2))
        np.testing.assert_allclose(second, first, atol=self.tolerance)


async def _embed(embedder: Embedder) -> Vectors:
    return await embedder.embed(["The user likes tea."])
