"""What is sent to a server, and what becomes of right answers."""

import asyncio
import logging

import numpy as np
import openai
import pytest

from embedders import OpenAIEmbedder
from tests.extras.embeddings_server import EmbeddingsServer, changed, failing, vector_of
from tests.extras.openai.conftest import KEY
from vectormem import SqliteVectorMemory, blocking
from vectormem.testing import EmbedderSuite

TEXTS = ["tea", "coffee", "oolong"]


def embed(embedder, texts=TEXTS, kind="document"):
    return asyncio.run(embedder.embed(texts, kind=kind))


def expected(texts=TEXTS, dimensions=8):
    return np.stack([vector_of(text, dimensions) for text in texts])


class TestOpenAIEmbedder(EmbedderSuite):
    tolerance = 1e-6

    @pytest.fixture
    def embedder(self, make):
        return make()


def test_vectors_come_as_base64_and_are_those_of_the_texts(server, make):
    vectors = embed(make())
    np.testing.assert_allclose(vectors, expected(), atol=1e-6)
    assert vectors.dtype == np.float32
    assert server.requests == [{"model": "small", "input": TEXTS, "encoding_format": "base64"}]


def test_servers_that_know_no_base64_are_understood(server, make):
    server.plain = True
    np.testing.assert_allclose(embed(make()), expected(), atol=1e-6)


def test_each_text_gets_its_own_vector_in_whatever_order_they_come(server, make):
    """BaseIntelligence/bounty-challenge#16010"""
    server.steps = [changed(lambda rows: [rows[2], rows[0], rows[1]])]
    np.testing.assert_allclose(embed(make()), expected(), atol=1e-6)


def test_dimensions_are_asked_for_and_named_in_the_id(server, make):
    embedder = make(dimensions=5)
    np.testing.assert_allclose(embed(embedder), expected(dimensions=5), atol=1e-6)
    assert server.requests[0]["dimensions"] == 5
    assert (embedder.dimensions, embedder.id) == (5, f"openai:small@{server.address}:5")


def test_no_text_makes_no_request(server, make):
    assert embed(make(), []).shape == (0, 0)
    assert embed(make(dimensions=5), []).shape == (0, 5)
    assert server.requests == []


def test_requests_hold_as_many_texts_as_allowed(server, make):
    texts = [f"text {n}" for n in range(25)]
    np.testing.assert_allclose(embed(make(batch_size=10), texts), expected(texts), atol=1e-6)
    assert [request["input"] for request in server.requests] == [texts[:10], texts[10:20], texts[20:]]


def test_requests_hold_as_many_tokens_as_allowed(server, make, monkeypatch):
    monkeypatch.setattr("embedders.openai_embedder._MOST_TOKENS_A_REQUEST", 100)
    texts = ["x" * 60, "y" * 60, "z" * 60, "short", "w" * 190, "v" * 190]
    np.testing.assert_allclose(embed(make(), texts), expected(texts), atol=1e-6)
    assert [len(request["input"]) for request in server.requests] == [4, 1, 1]


def test_an_empty_text_is_sent_as_a_space(server, make):
    np.testing.assert_allclose(embed(make(), ["", "tea"]), expected([" ", "tea"]), atol=1e-6)


def test_the_key_is_sent_to_the_server_and_is_not_in_the_repr(server, make):
    embedder = make()
    embed(embedder)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(embedder)


def test_a_server_of_ones_own_needs_no_key(server):
    np.testing.assert_allclose(embed(OpenAIEmbedder("small", base_url=server.url)), expected(), atol=1e-6)


def test_key_and_server_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    embedder = OpenAIEmbedder("small")
    np.testing.assert_allclose(embed(embedder), expected(), atol=1e-6)
    assert server.headers[0]["authorization"] == "Bearer sk-from-environment"
    assert embedder.id == f"openai:small@{server.address}"


def test_openai_without_a_key_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match=r"api_key=\.\.\. or set OPENAI_API_KEY"):
        OpenAIEmbedder("text-embedding-3-small")


# Long texts


def test_a_long_text_is_the_mean_of_its_chunks_and_told_about(server, make, caplog):
    """mastra-ai/mastra#3053"""
    with caplog.at_level(logging.WARNING, "embedders"):
        vectors = embed(make(max_tokens=5), ["one two three", "tea"])
    mean = expected(["one ", "two three"]).sum(axis=0)
    np.testing.assert_allclose(vectors[0], mean / np.linalg.norm(mean), atol=1e-6)
    np.testing.assert_allclose(vectors[1], vector_of("tea"), atol=1e-6)
    assert "1 of 2 texts are too long for one vector" in caplog.text


def test_a_text_of_many_tokens_a_character_is_estimated_on_the_safe_side(server, make):
    """agent0ai/agent-zero#1436"""
    embed(make(), ["東" * 8192])
    sent = [piece for request in server.requests for piece in request["input"]]
    assert "".join(sent) == "東" * 8192
    assert max(map(len, sent)) < 8192


def refuse_long(most):
    def step(handler, body):
        if max(map(len, body["input"])) > most:
            message = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"
            failing(400, message)(handler, body)
        else:
            handler.embeddings.steps.clear()
            from tests.extras.embeddings_server import right

            right(handler, body)
        handler.embeddings.steps.append(step)

    return step


def test_what_the_server_still_finds_too_long_is_halved(server, make, caplog):
    server.steps = [refuse_long(8)]
    texts = ["tea", "one two three four", "coffee"]
    vectors = embed(make(), texts)
    server.steps.clear()
    np.testing.assert_allclose(vectors[[0, 2]], expected(["tea", "coffee"]), atol=1e-6)
    assert all(len(piece) <= 8 for piece in server.requests[-2]["input"])
    assert np.linalg.norm(vectors[1]) == pytest.approx(1)
    assert "too long for one vector" in caplog.text


def test_a_server_that_finds_everything_too_long_ends_in_an_error(server, make):
    server.steps = [refuse_long(0)]
    with pytest.raises(Exception, match="maximum context length"):
        embed(make(), ["tea"])
    server.steps.clear()


# Clients of one's own


def test_a_sync_client_is_used(server):
    with openai.OpenAI(base_url=server.url, api_key="sk-own") as client:
        embedder = OpenAIEmbedder("small", client=client)
        np.testing.assert_allclose(embed(embedder), expected(), atol=1e-6)
    assert server.headers[0]["authorization"] == "Bearer sk-own"
    assert embedder.id == f"openai:small@{server.address}"


def test_an_async_client_is_used(server):
    async def main():
        async with openai.AsyncOpenAI(base_url=server.url, api_key="sk-own") as client:
            return await OpenAIEmbedder("small", client=client).embed(TEXTS)

    np.testing.assert_allclose(asyncio.run(main()), expected(), atol=1e-6)


def test_an_azure_client_is_used(server):
    azure = {"azure_endpoint": server.url, "api_version": "2024-10-21", "api_key": "azure-key"}
    with openai.AzureOpenAI(**azure) as client:
        np.testing.assert_allclose(embed(OpenAIEmbedder("small", client=client)), expected(), atol=1e-6)
    assert server.headers[0]["api-key"] == "azure-key"


class Fake:
    """Anything with `embeddings.create` will do."""

    def __init__(self, is_async):
        self.embeddings = self
        self.create = self.create_async if is_async else self.create_sync

    def create_sync(self, *, model, input, **options):
        rows = [{"index": n, "embedding": vector_of(text).tolist()} for n, text in enumerate(input)]
        return type("Answer", (), {"data": rows[::-1]})()

    async def create_async(self, **options):
        return self.create_sync(**options)


@pytest.mark.parametrize("is_async", [True, False])
def test_a_stand_in_for_a_client_is_used(is_async):
    embedder = OpenAIEmbedder("small", client=Fake(is_async))
    np.testing.assert_allclose(embed(embedder), expected(), atol=1e-6)
    assert embedder.id == "openai:small"


# Ids and options


@pytest.mark.parametrize(
    ("options", "embedder_id"),
    [
        ({}, "openai:m"),
        ({"dimensions": 256}, "openai:m:256"),
        ({"max_tokens": 512}, "openai:m:max=512"),
        ({"base_url": "https://api.openai.com/v1/"}, "openai:m"),
        ({"base_url": "https://eu.api.openai.com/v1"}, "openai:m"),
        ({"base_url": "http://localhost:11434/v1/"}, "openai:m@localhost:11434/v1"),
        ({"base_url": "https://user:secret@models.example/v1?key=secret"}, "openai:m@models.example/v1"),
        ({"base_url": "http://localhost:11434/v1", "id": "nomic"}, "nomic"),
    ],
)
def test_the_id_names_the_model_the_server_and_what_changes_the_vectors(options, embedder_id):
    assert OpenAIEmbedder("m", api_key=KEY, **options).id == embedder_id


@pytest.mark.parametrize(
    "options",
    [
        {"model": ""},
        {"model": None},
        {"dimensions": 0},
        {"dimensions": True},
        {"batch_size": 0},
        {"max_tokens": 0},
        {"timeout": 0},
        {"timeout": "60"},
        {"id": " "},
        {"client": object()},
        {"client": "openai"},
        {"client": Fake(False), "api_key": KEY},
        {"client": Fake(False), "base_url": "http://localhost"},
    ],
)
def test_wrong_options_raise_value_error(options):
    given = {"model": "m", **({} if "client" in options else {"api_key": KEY}), **options}
    with pytest.raises(ValueError):
        OpenAIEmbedder(**given)


def test_a_memory_works_with_it(server, make, tmp_path):
    memory = blocking(SqliteVectorMemory(tmp_path / "m.db", embedder=make(batch_size=4)))
    memory.add_many("k", [f"text {n}" for n in range(10)])
    found = memory.list("k", query="text 7", limit=1)[0]
    assert (found.text, found.score) == ("text 7", pytest.approx(1))
    assert [len(request["input"]) for request in server.requests] == [4, 4, 2, 1]
    memory.close()


def test_many_event_loops_and_threads_share_one_embedder(make):
    embedder = make()
    for _ in range(3):
        np.testing.assert_allclose(embed(embedder), expected(), atol=1e-6)

    async def many():
        return await asyncio.gather(*(embedder.embed([f"text {n}"]) for n in range(20)))

    np.testing.assert_allclose(
        np.concatenate(asyncio.run(many())), expected([f"text {n}" for n in range(20)]), atol=1e-6
    )


def test_the_server_of_the_tests_tells_texts_apart():
    server = EmbeddingsServer()
    server.close()
    assert not np.allclose(vector_of("tea"), vector_of("coffee"), atol=0.01)
