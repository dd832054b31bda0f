"""An int8 all-MiniLM-L6-v2, run by onnxruntime."""

import asyncio
import shutil

import numpy as np
import pytest

from embedders import CachedEmbedder, EmbedderError, OnnxEmbedder
from tests.extras.checks import check_finds_what_shares_no_word, check_unit_rows, embed, in_new_process, warnings_of
from vectormem.testing import EmbedderSuite

LONG = f"{'the weather was nice and we went for a walk ' * 300}the spare key is under the blue pot"


@pytest.fixture
def make(model, tokenizer):
    return lambda **options: OnnxEmbedder(model, **{"tokenizer": tokenizer, **options})


class TestOnnxEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self, make):
        return make()


class TestWithChunks(EmbedderSuite):
    @pytest.fixture
    def embedder(self, make):
        return make(long_texts="chunk")


class TestCachedOnnx(EmbedderSuite):
    @pytest.fixture
    def embedder(self, make, tmp_path):
        return CachedEmbedder(make(), tmp_path / "cache.db")


def test_a_question_finds_the_answer_that_shares_no_word_with_it(make):
    check_finds_what_shares_no_word(make())


def test_vectors_are_near_those_of_the_full_model(make):
    """Cosines of the model with torch and float32, to which int8 comes within one in a hundred."""
    vectors = embed(make(), ["What does the user like to eat?", "Sam is vegetarian", "The office is in Oslo"])
    check_unit_rows(vectors)
    np.testing.assert_allclose(vectors[0] @ vectors[1:].T, [0.259, -0.065], atol=0.02)


def test_pooling_takes_the_mean_of_the_tokens_or_the_first(make, model, tokenizer):
    import onnxruntime
    import tokenizers

    ids = np.array([tokenizers.Tokenizer.from_file(str(tokenizer)).encode("green tea").ids])
    ids = ids[:, : 2 + 2]
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    states = onnxruntime.InferenceSession(str(model)).run(None, inputs)[0][0]
    for pooling, expected in (("mean", states.mean(axis=0)), ("first", states[0])):
        expected = expected / np.linalg.norm(expected)
        np.testing.assert_allclose(embed(make(pooling=pooling), ["green tea"])[0], expected, atol=1e-5)


def test_a_text_that_is_cut_is_told_with_the_count(make, caplog):
    (message,) = warnings_of(caplog, make(), [LONG, "short", LONG[1:], "tea"])
    assert "2 of 4 texts are longer than the 256 tokens" in message


def test_the_beginning_of_a_cut_text_ends_as_a_text_does(make):
    embedder = make()
    np.testing.assert_allclose(embed(embedder, ["tea " * 300]), embed(embedder, ["tea " * 254]), atol=1e-5)


def test_a_text_in_chunks_is_the_mean_of_all_of_it_and_is_not_warned_of(make, caplog):
    embedder = make(long_texts="chunk")
    assert warnings_of(caplog, embedder, [LONG]) == []
    question = embed(make(), ["Where is the key?"])[0]
    assert embed(embedder, [LONG])[0] @ question > embed(make(), [LONG])[0] @ question


def test_prompts_are_put_before_queries_and_documents(make):
    embedder = make(prompts={"query": "query: ", "document": "passage: "})
    for kind, prompt in (("query", "query: "), ("document", "passage: ")):
        np.testing.assert_allclose(embed(embedder, ["tea"], kind), embed(make(), [f"{prompt}tea"]), atol=1e-6)


def test_calls_at_once_from_several_threads_do_not_mix(make):
    embedder = make()
    texts = [f"text number {n}" for n in range(24)]
    expected = embed(embedder, texts)

    async def many():
        return await asyncio.gather(*(embedder.embed([text]) for text in texts))

    np.testing.assert_allclose(np.concatenate(asyncio.run(many())), expected, atol=1e-6)


@pytest.mark.parametrize("inside", ["model.onnx", "onnx/model.onnx"])
def test_a_folder_with_model_and_tokenizer_is_enough(model, tokenizer, make, tmp_path, inside):
    (tmp_path / inside).parent.mkdir(exist_ok=True)
    shutil.copy(model, tmp_path / inside)
    shutil.copy(tokenizer, tmp_path / "tokenizer.json")
    embedder = OnnxEmbedder(str(tmp_path))
    np.testing.assert_allclose(embed(embedder, ["tea"]), embed(make(), ["tea"]), atol=1e-6)
    assert embedder.id == make().id


def test_whatever_changes_vectors_changes_the_id(make, tokenizer, tmp_path):
    cased = tmp_path / "tokenizer.json"
    cased.write_text(
        tokenizer.read_text()
        .replace('"lowercase":true', '"lowercase":false')
        .replace('"lowercase": true', '"lowercase": false')
    )
    assert cased.read_text() != tokenizer.read_text()
    options = [
        {},
        {"pooling": "first"},
        {"max_tokens": 128},
        {"prompts": {"query": "q: "}},
        {"prompts": {"document": "q: "}},
        {"long_texts": "chunk"},
        {"tokenizer": cased},
    ]
    assert len({make(**option).id for option in options}) == len(options)
    assert make(id="mine").id == "mine"


def test_a_file_is_loaded_once_however_many_embedders_use_it(make, monkeypatch):
    import onnxruntime

    loads = []
    load = onnxruntime.InferenceSession
    monkeypatch.setattr("embedders.loading._loaded", {})
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda *a, **k: loads.append(a) or load(*a, **k))
    for _ in range(3):
        make()
    assert len(loads) == 1


def test_the_command_line_measures_it_and_prints_nothing_else(model, tokenizer, tmp_path):
    shutil.copy(model, tmp_path / "model.onnx")
    shutil.copy(tokenizer, tmp_path / "tokenizer.json")
    code = "import sys; from vectormem.cli.app import main; sys.argv[0] = 'vectormem'; main()"
    done = in_new_process(code, "embedders", f"onnx:{tmp_path}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "dimensions: 384" in done.stdout


def test_files_that_are_missing_or_broken_are_told_of(model, tokenizer, tmp_path):
    with pytest.raises(EmbedderError, match="there is no ONNX model at"):
        OnnxEmbedder(tmp_path, tokenizer=tokenizer)
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        OnnxEmbedder(model, tokenizer=tmp_path / "tokenizer.json")
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        OnnxEmbedder(tmp_path, tokenizer=tokenizer)


@pytest.mark.parametrize("options", [{"pooling": "max"}, {"max_tokens": 0}, {"long_texts": None}, {"id": ""}])
def test_wrong_options_raise_value_error(make, options):
    with pytest.raises(ValueError):
        make(**options)
