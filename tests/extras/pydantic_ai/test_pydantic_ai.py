"""Embedding models of pydantic-ai: its test model, one of our own, and an OpenAI model at a local server."""

import asyncio

import numpy as np
import openai
import pytest
from pydantic_ai import Embedder as Facade
from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, TestEmbeddingModel
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider

from embedders import EmbedderError, PydanticAIEmbedder
from tests.extras.embeddings_server import EmbeddingsServer, vector_of
from vectormem import SqliteVectorMemory, blocking
from vectormem.testing import EmbedderSuite


class HashedModel(EmbeddingModel):
    """Answers with the vectors of the test server; `calls` holds what it was asked."""

    def __init__(self, model_name="hashed", system="ours", settings=None):
        super().__init__(settings=settings)
        self._name, self._system = model_name, system
        self.calls = []
        self.answer = lambda texts: [vector_of(text).tolist() for text in texts]

    @property
    def model_name(self):
        return self._name

    @property
    def system(self):
        return self._system

    async def embed(self, inputs, *, input_type, settings=None):
        texts, _ = self.prepare_embed(inputs, settings)
        self.calls.append((texts, input_type))
        return EmbeddingResult(
            self.answer(texts), inputs=texts, input_type=input_type, model_name=self._name, provider_name=self._system
        )


class TestPydanticAIEmbedder(EmbedderSuite):
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self):
        return PydanticAIEmbedder(HashedModel())


@pytest.fixture
def server():
    running = EmbeddingsServer()
    yield running
    running.close()


def embed(embedder, texts, kind="document"):
    return asyncio.run(embedder.embed(texts, kind=kind))


def openai_model(url, **options):
    return OpenAIEmbeddingModel("small", provider=OpenAIProvider(base_url=url, api_key="sk-1"), **options)


def test_the_test_model_of_pydantic_ai_is_taken():
    model = TestEmbeddingModel("m", provider_name="p", dimensions=4)
    embedder = PydanticAIEmbedder(model)
    np.testing.assert_allclose(embed(embedder, ["a", "b"]), np.full((2, 4), 0.5))
    assert embedder.id == "p:m"


def test_a_model_of_a_real_provider_is_taken(server):
    async def main():
        async with openai.AsyncOpenAI(base_url=server.url, api_key="sk-1") as client:
            model = OpenAIEmbeddingModel("small", provider=OpenAIProvider(openai_client=client))
            return await PydanticAIEmbedder(model).embed(["tea", "coffee"])

    vectors = asyncio.run(main())
    np.testing.assert_allclose(vectors, np.stack([vector_of("tea"), vector_of("coffee")]), atol=1e-6)
    assert vectors.dtype == np.float32


def test_its_facade_is_taken_with_its_settings():
    embedder = PydanticAIEmbedder(Facade(TestEmbeddingModel("m", provider_name="p"), settings={"dimensions": 9}))
    assert embed(embedder, ["a"]).shape == (1, 9)
    assert embedder.id == "p:m:9"
    assert PydanticAIEmbedder(Facade("openai:text-embedding-3-small")).id == "openai:text-embedding-3-small"


def test_queries_and_documents_are_told_apart():
    model = HashedModel()
    embedder = PydanticAIEmbedder(model)
    embed(embedder, ["tea"])
    embed(embedder, ["tea"], "query")
    assert model.calls == [(["tea"], "document"), (["tea"], "query")]


def test_no_text_makes_no_call():
    model = HashedModel()
    assert len(embed(PydanticAIEmbedder(model), [])) == 0
    assert model.calls == []


def test_a_memory_sends_at_most_96_texts_at_once():
    model = HashedModel()
    memory = blocking(SqliteVectorMemory(":memory:", embedder=PydanticAIEmbedder(model)))
    memory.add_many("k", [f"text {n}" for n in range(200)])
    assert [len(texts) for texts, _ in model.calls] == [96, 96, 8]
    assert memory.list("k", query="text 150", limit=1)[0].text == "text 150"
    memory.close()


@pytest.mark.parametrize(
    ("model", "embedder_id"),
    [
        (HashedModel("embed-v4.0", "cohere"), "cohere:embed-v4.0"),
        (HashedModel("embed-v4.0", ""), "embed-v4.0"),
        (HashedModel("m", "p", settings={"dimensions": 512}), "p:m:512"),
        (HashedModel("m", "p", settings={"truncate": True}), "p:m"),
        (openai_model("https://api.openai.com/v1"), "openai:small"),
        (openai_model("http://localhost:8000/v1"), "openai:small@localhost:8000"),
        (openai_model("https://api.openai.com/v1", settings={"dimensions": 64}), "openai:small:64"),
    ],
)
def test_the_id_names_provider_model_and_what_changes_the_vectors(model, embedder_id):
    assert PydanticAIEmbedder(model).id == embedder_id


def test_an_id_of_ones_own_is_taken_as_it_is():
    assert PydanticAIEmbedder(HashedModel(), id="mine").id == "mine"


@pytest.mark.parametrize("model", ["openai:text-embedding-3-small", None, TestModel(), object(), HashedModel])
def test_names_and_language_models_are_refused(model):
    with pytest.raises(ValueError, match="must be an embedding model of pydantic-ai"):
        PydanticAIEmbedder(model)


def test_an_answer_that_is_short_is_an_error():
    model = HashedModel()
    model.answer = lambda texts: [[1.0]]
    with pytest.raises(EmbedderError, match="1 vectors for 2 texts"):
        embed(PydanticAIEmbedder(model), ["a", "b"])
