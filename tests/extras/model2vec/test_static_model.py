"""A static model of 256 dimensions, distilled from all-MiniLM-L6-v2. There is no torch here."""

import importlib.util
import shutil
import threading

import model2vec
import numpy as np
import pytest

from embedders import CachedEmbedder, EmbedderError, Model2VecEmbedder
from tests.extras.checks import check_finds_what_shares_no_word, check_unit_rows, embed, in_new_process, warnings_of
from vectormem.testing import EmbedderSuite


class TestModel2VecEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self, folder):
        return Model2VecEmbedder(folder)


class TestCachedModel2Vec(EmbedderSuite):
    @pytest.fixture
    def embedder(self, folder, tmp_path):
        return CachedEmbedder(Model2VecEmbedder(folder), tmp_path / "cache.db")


@pytest.fixture
def fresh(folder):
    return lambda **options: model2vec.StaticModel.from_pretrained(folder, **options)


def test_it_needs_no_torch(folder):
    assert importlib.util.find_spec("torch") is None
    Model2VecEmbedder(folder)


def test_a_question_finds_the_answer_that_shares_no_word_with_it(folder):
    check_finds_what_shares_no_word(Model2VecEmbedder(folder))


def test_vectors_are_those_of_the_library_with_unit_length(folder, fresh):
    texts = ["The user likes tea.", "Sam is vegetarian", "x"]
    vectors = embed(Model2VecEmbedder(folder), texts)
    expected = fresh().encode(texts)
    np.testing.assert_allclose(
        vectors, expected / np.linalg.norm(expected.astype(np.float32), axis=1, keepdims=True), atol=1e-3
    )
    check_unit_rows(vectors)


def test_a_text_of_any_length_is_embedded_in_full(folder, caplog):
    embedder = Model2VecEmbedder(folder)
    filler = "the weather was nice and we went for a walk " * 500
    assert warnings_of(caplog, embedder, [filler]) == []
    plain, ended = embed(embedder, [filler, filler + "blue pot " * 500])
    assert ended @ embed(embedder, ["blue pot"])[0] > plain @ embed(embedder, ["blue pot"])[0] + 0.1


def test_a_text_of_unknown_tokens_alone_has_the_zero_vector(folder):
    assert not embed(Model2VecEmbedder(folder), ["\U0001f98a"]).any()


def test_no_text_gives_no_rows(folder):
    assert embed(Model2VecEmbedder(folder), []).shape == (0, 256)


# Ids


def test_the_same_model_has_one_id_wherever_it_lies_and_however_it_was_loaded(folder, fresh, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "another name")
    ids = {Model2VecEmbedder(model).id for model in (folder, str(folder), copy, fresh(), fresh(normalize=False))}
    assert len(ids) == 1
    kind, digest, dimensions = ids.pop().split(":")
    assert (kind, len(digest), dimensions) == ("static", 16, "256")


def test_whatever_changes_vectors_changes_the_id(folder, fresh):
    changed = fresh()
    changed.embedding = changed.embedding.copy()
    changed.embedding[9, 9] += 0.5
    models = [folder, changed, fresh(dimensionality=128), fresh(quantize_to="int8"), fresh(quantize_to="float32")]
    assert len({Model2VecEmbedder(model).id for model in models}) == len(models)


def test_an_id_of_ones_own_is_taken_as_it_is(folder):
    assert Model2VecEmbedder(folder, id="mine").id == "mine"


# In a program


def test_a_model_is_loaded_once_however_many_embedders_use_it(folder, monkeypatch):
    loads = []
    load = model2vec.StaticModel.from_pretrained
    monkeypatch.setattr("embedders.loading._loaded", {})
    monkeypatch.setattr(model2vec.StaticModel, "from_pretrained", lambda *a, **k: loads.append(a) or load(*a, **k))
    for _ in range(4):
        Model2VecEmbedder(folder)
    assert len(loads) == 1


def test_threads_may_share_a_loaded_model(fresh):
    model = fresh()
    embedders = [Model2VecEmbedder(model), Model2VecEmbedder(model)]
    texts = ["tea", "a longer text about coffee " * 300]
    expected, wrong = embed(embedders[0], texts), []

    def work(n):
        for _ in range(30):
            if not np.allclose(embed(embedders[n % 2], texts), expected, atol=1e-6):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_command_line_measures_it_and_prints_nothing_else(folder):
    code = "import sys; from vectormem.cli.app import main; sys.argv[0] = 'vectormem'; main()"
    done = in_new_process(code, "embedders", f"static:{folder}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "dimensions: 256" in done.stdout
    assert "sanity: 80%" in done.stdout


@pytest.mark.parametrize("model", ["no-owner/no-model", "/no/such/folder"])
def test_a_model_that_cannot_be_loaded_is_told_of(model):
    with pytest.raises(EmbedderError, match=f"'{model}' cannot be loaded"):
        Model2VecEmbedder(model)


def test_a_folder_that_holds_no_model_is_told_of(tmp_path):
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        Model2VecEmbedder(tmp_path)


@pytest.mark.parametrize("options", [{"model": None}, {"model": 7}, {"model": object()}, {"id": " "}])
def test_wrong_options_raise_value_error(folder, options):
    with pytest.raises(ValueError):
        Model2VecEmbedder(**{"model": folder, **options})
