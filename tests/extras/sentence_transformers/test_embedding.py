"""A real model: all-MiniLM-L6-v2, from a package, on the processor."""

import asyncio
import threading

import numpy as np
import pytest

from embedders import CachedEmbedder, EmbedderError, SentenceTransformerEmbedder, as_embedder
from tests.extras.checks import check_finds_what_shares_no_word, check_unit_rows, embed, warnings_of
from vectormem import InMemoryVectorMemory, blocking
from vectormem.testing import EmbedderSuite

KEY = "the spare key is under the blue pot"
LONG = f"{'the weather was nice and we went for a walk ' * 300}{KEY}"


class TestSentenceTransformerEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self, folder):
        return SentenceTransformerEmbedder(folder)


class TestWithChunks(EmbedderSuite):
    @pytest.fixture
    def embedder(self, folder):
        return SentenceTransformerEmbedder(folder, long_texts="chunk")


class TestCachedSentenceTransformer(EmbedderSuite):
    @pytest.fixture
    def embedder(self, folder, tmp_path):
        return CachedEmbedder(SentenceTransformerEmbedder(folder), tmp_path / "cache.db")


def test_a_question_finds_the_answer_that_shares_no_word_with_it(folder):
    check_finds_what_shares_no_word(SentenceTransformerEmbedder(folder))


def test_vectors_are_those_of_the_library_with_unit_length(folder, model):
    texts = ["The user likes tea.", "Sam is vegetarian", "x"]
    vectors = embed(SentenceTransformerEmbedder(folder), texts)
    np.testing.assert_allclose(vectors, model.encode(texts, normalize_embeddings=True), atol=1e-5)
    check_unit_rows(vectors)


def test_a_name_of_a_folder_may_be_a_path_or_a_string_and_a_loaded_model_will_do(folder, model, tmp_path):
    texts = ["tea"]
    one, two = SentenceTransformerEmbedder(folder), SentenceTransformerEmbedder(model)
    np.testing.assert_allclose(embed(one, texts), embed(two, texts), atol=1e-6)
    assert one.id == two.id
    assert one.dimensions == two.dimensions == 384


# Long texts


def test_a_text_that_is_cut_is_told_with_the_count(folder, caplog):
    """huggingface/sentence-transformers#4060"""
    embedder = SentenceTransformerEmbedder(folder)
    (message,) = warnings_of(caplog, embedder, [LONG, "short", LONG[1:], "tea"])
    assert "2 of 4 texts are longer than the 256 tokens" in message
    assert embedder.id in message


def test_texts_that_are_read_to_their_end_are_not_warned_of(folder, caplog):
    embedder = SentenceTransformerEmbedder(folder)
    assert warnings_of(caplog, embedder, ["tea " * 254, "x" * 1000, ""]) == []
    assert len(warnings_of(caplog, embedder, ["tea " * 255])) == 1


def test_a_text_in_chunks_is_the_mean_of_all_of_it_and_is_not_warned_of(folder, model, caplog):
    embedder = SentenceTransformerEmbedder(folder, long_texts="chunk")
    assert warnings_of(caplog, embedder, [LONG, "tea"]) == []
    chunked, cut = embed(embedder, [LONG, "tea"]), embed(SentenceTransformerEmbedder(folder), [LONG, "tea"])
    np.testing.assert_allclose(chunked[1], cut[1], atol=1e-5)
    question = model.encode("Where is the key?", normalize_embeddings=True)
    assert chunked[0] @ question > cut[0] @ question
    assert np.linalg.norm(chunked[0]) == pytest.approx(1)


def test_every_token_of_a_text_in_chunks_is_read_by_one_of_them(folder, model, monkeypatch):
    embedder, given = SentenceTransformerEmbedder(folder, long_texts="chunk"), []
    encode = type(model).encode_document
    monkeypatch.setattr(
        type(model), "encode_document", lambda self, texts, **k: given.extend(texts) or encode(self, texts, **k)
    )
    embed(embedder, [LONG])
    assert "".join(given) == LONG
    assert max(len(model.tokenizer(piece).input_ids) for piece in given) <= 256


# Prompts


@pytest.fixture
def prompted(fresh):
    return fresh(prompts={"query": "query: ", "document": "passage: "})


def test_queries_and_documents_get_the_prompts_of_the_model(prompted, model):
    embedder = SentenceTransformerEmbedder(prompted)
    for kind, prompt in (("query", "query: "), ("document", "passage: ")):
        expected = model.encode([f"{prompt}tea"], normalize_embeddings=True)
        np.testing.assert_allclose(embed(embedder, ["tea"], kind), expected, atol=1e-5)


def test_the_default_prompt_of_a_model_is_used_where_none_is_named(fresh, model):
    prompted = fresh(prompts={"note": "note: "}, default_prompt_name="note")
    del prompted.prompts["query"], prompted.prompts["document"]
    expected = model.encode(["note: tea"], normalize_embeddings=True)
    np.testing.assert_allclose(embed(SentenceTransformerEmbedder(prompted), ["tea"]), expected, atol=1e-5)


def test_the_tokens_of_the_prompt_count(prompted, caplog):
    embedder = SentenceTransformerEmbedder(prompted)
    assert warnings_of(caplog, embedder, ["tea " * 252]) == []
    assert len(warnings_of(caplog, embedder, ["tea " * 253])) == 1


# Other kinds of models


def test_a_static_model_of_the_library_reads_texts_of_any_length(library, model, caplog):
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    static = library.SentenceTransformer(
        modules=[StaticEmbedding(model.tokenizer.backend_tokenizer, embedding_dim=32)], device="cpu"
    )
    embedder = SentenceTransformerEmbedder(static)
    assert warnings_of(caplog, embedder, [LONG]) == []
    expected = static.encode(["tea", LONG], normalize_embeddings=True)
    np.testing.assert_allclose(embed(embedder, ["tea", LONG]), expected, atol=1e-5)
    assert embedder.id.startswith("st:StaticEmbedding@")
    assert embedder.dimensions == 32


def test_a_model_of_half_precision_gives_float32(fresh):
    import torch

    vectors = embed(SentenceTransformerEmbedder(fresh().to(torch.bfloat16)), ["tea", "coffee"])
    assert vectors.dtype == np.float32
    check_unit_rows(vectors)


def test_tensors_of_any_kind_that_a_function_returns_are_taken():
    """embeddings-benchmark/mteb#1297"""
    import torch

    def embed_as(dtype):
        rows = {"tea": [1.0, 0.0], "coffee": [0.0, 2.0]}
        return lambda texts: torch.tensor([rows[text] for text in texts], dtype=dtype, requires_grad=True)

    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        memory = blocking(InMemoryVectorMemory(embedder=as_embedder(embed_as(dtype), id="tensors")))
        memory.add_many("k", ["tea", "coffee"])
        assert [(item.text, item.score) for item in memory.list("k", query="coffee")] == [("coffee", 1.0)]


# Threads


def test_it_does_not_hold_up_the_event_loop(folder):
    embedder = SentenceTransformerEmbedder(folder)

    async def main():
        work = asyncio.create_task(embedder.embed([f"text {n} " * 30 for n in range(64)]))
        turns = 0
        while not work.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert asyncio.run(main()) > 3


def test_threads_may_share_the_model(folder):
    embedders = [SentenceTransformerEmbedder(folder), SentenceTransformerEmbedder(folder, long_texts="chunk")]
    texts = ["tea", LONG[:3000], "a somewhat longer text about coffee"]
    expected = [embed(embedder, texts) for embedder in embedders]
    wrong = []

    def work(n):
        for _ in range(5):
            if not np.allclose(embed(embedders[n % 2], texts), expected[n % 2], atol=1e-5):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# What is refused


def test_a_model_that_cannot_be_loaded_is_told_of(tmp_path):
    with pytest.raises(EmbedderError, match="'no-owner/no-model' cannot be loaded"):
        SentenceTransformerEmbedder("no-owner/no-model")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        SentenceTransformerEmbedder(tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"model": None},
        {"model": object()},
        {"model": 7},
        {"batch_size": 0},
        {"long_texts": "drop"},
        {"id": ""},
    ],
)
def test_wrong_options_raise_value_error(folder, options):
    with pytest.raises(ValueError):
        SentenceTransformerEmbedder(**{"model": folder, **options})


def test_where_a_loaded_model_is_given_it_cannot_be_moved_or_changed(model):
    with pytest.raises(ValueError, match="a loaded one has them already"):
        SentenceTransformerEmbedder(model, device="cpu")
