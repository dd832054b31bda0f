"""litellm, which reaches a server on this machine."""

import asyncio
import os
import warnings

import numpy as np
import pytest

from embedders import EmbedderError
from tests.extras.embeddings_server import EmbeddingsServer, changed, vector_of
from vectormem.testing import EmbedderSuite

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network for its prices when it is imported

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from embedders import LiteLLMEmbedder

    LiteLLMEmbedder("openai/warm-up")

pytestmark = pytest.mark.filterwarnings("ignore")  # its own, of which there are many


@pytest.fixture
def server():
    running = EmbeddingsServer()
    yield running
    running.close()


@pytest.fixture
def make(server):
    return lambda **options: LiteLLMEmbedder(
        "openai/small", **{"api_base": server.url, "api_key": "sk-1", "num_retries": 0, **options}
    )


class TestLiteLLMEmbedder(EmbedderSuite):
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self, server, make):
        server.plain = True
        return make()


def embed(embedder, texts):
    return asyncio.run(embedder.embed(texts))


def test_each_text_gets_its_own_vector(server, make):
    server.plain = True
    server.steps = [changed(lambda rows: rows[::-1])]
    vectors = embed(make(), ["tea", "coffee"])
    np.testing.assert_allclose(vectors, np.stack([vector_of("tea"), vector_of("coffee")]), atol=1e-6)
    assert vectors.dtype == np.float32


def test_options_are_handed_on(server, make):
    server.plain = True
    assert embed(make(allowed_openai_params=["dimensions"], dimensions=5), ["tea"]).shape == (1, 5)
    assert server.requests[0]["dimensions"] == 5


def test_no_text_makes_no_call(server, make):
    assert len(embed(make(), [])) == 0
    assert server.requests == []


def test_an_answer_that_is_short_is_an_error(server, make):
    server.plain = True
    server.steps = [changed(lambda rows: rows[:1])]
    with pytest.raises(EmbedderError, match="1 vectors for 2 texts"):
        embed(make(), ["tea", "coffee"])


def test_the_id_names_the_model_and_what_changes_the_vectors():
    assert LiteLLMEmbedder("cohere/embed-v4.0").id == "litellm:cohere/embed-v4.0"
    embedder = LiteLLMEmbedder("openai/m", api_base="http://localhost:1/v1", dimensions=64, api_key="sk-1")
    assert embedder.id == "litellm:openai/m:dimensions=64:api_base=http://localhost:1/v1"
    assert LiteLLMEmbedder("m", id="mine").id == "mine"


@pytest.mark.parametrize("options", [{"model": ""}, {"model": None}, {"id": ""}])
def test_wrong_options_raise_value_error(options):
    with pytest.raises(ValueError):
        LiteLLMEmbedder(**{"model": "m", **options})
