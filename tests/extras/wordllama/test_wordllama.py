"""The word vectors inside the package wordllama."""

import numpy as np
import pytest

from embedders import WordLlamaEmbedder
from tests.extras.checks import check_finds_what_shares_no_word, check_unit_rows, embed, in_new_process
from vectormem.testing import EmbedderSuite


class TestWordLlamaEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return WordLlamaEmbedder()


class TestWithFewDimensions(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return WordLlamaEmbedder(64)


@pytest.mark.parametrize("dimensions", [64, 128, 256])
def test_a_question_finds_the_answer_that_shares_no_word_with_it(dimensions):
    check_finds_what_shares_no_word(WordLlamaEmbedder(dimensions))


def test_vectors_are_those_of_the_library_with_unit_length():
    code = (
        "import os, sys, wordllama, numpy as np\n"
        "folder = os.path.dirname(wordllama.__file__)\n"
        "model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)\n"
        "np.save(sys.argv[1], model.embed(['The user likes tea.', 'Sam is vegetarian', 'x'], norm=True))\n"
    )
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        assert in_new_process(code, file.name).returncode == 0
        expected = np.load(file.name)
    vectors = embed(WordLlamaEmbedder(), ["The user likes tea.", "Sam is vegetarian", "x"])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    check_unit_rows(vectors)


def test_fewer_dimensions_are_the_first_of_the_vectors():
    long, short = embed(WordLlamaEmbedder(256), ["green tea"]), embed(WordLlamaEmbedder(64), ["green tea"])
    np.testing.assert_allclose(short, long[:, :64] / np.linalg.norm(long[:, :64]), atol=1e-6)


def test_a_text_of_any_length_is_embedded_in_full():
    embedder = WordLlamaEmbedder()
    filler = "the weather was nice and we went for a walk " * 500
    plain, ended = embed(embedder, [filler, filler + "blue pot " * 500])
    assert ended @ embed(embedder, ["blue pot"])[0] > plain @ embed(embedder, ["blue pot"])[0] + 0.1


def test_a_text_without_a_token_has_the_zero_vector():
    assert not embed(WordLlamaEmbedder(), [""]).any()


def test_the_id_names_the_weights_and_the_dimensions():
    ids = [WordLlamaEmbedder(dimensions).id for dimensions in (64, 128, 256, 256)]
    assert len(set(ids)) == 3
    assert [embedder_id.split(":")[2] for embedder_id in ids] == ["64", "128", "256", "256"]
    assert len({embedder_id.split(":")[1] for embedder_id in ids}) == 1
    assert WordLlamaEmbedder(id="mine").id == "mine"


QUIET = """
import asyncio, logging, sys
from embedders import WordLlamaEmbedder
asyncio.run(WordLlamaEmbedder().embed(["tea"]))
print(logging.getLogger().handlers, "wordllama" in sys.modules, "requests" in sys.modules)
"""


def test_the_package_is_not_imported_so_that_it_configures_no_logging():
    done = in_new_process(QUIET)
    assert (done.stdout, done.stderr) == ("[] False False\n", "")


@pytest.mark.parametrize("dimensions", [0, 65, 512, None, "256", 256.5])
def test_wrong_dimensions_raise_value_error(dimensions):
    with pytest.raises(ValueError, match="dimensions"):
        WordLlamaEmbedder(dimensions)
