import pytest

from embedders import OpenAIEmbedder, openai_embedder, retrying
from tests.extras.embeddings_server import EmbeddingsServer

KEY = "sk-proj-VerySecret1234567890"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Take away what the environment might say."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    running = EmbeddingsServer()
    yield running
    running.close()


@pytest.fixture
def make(server):
    """Make an embedder of the server's model."""

    def made(**options):
        return OpenAIEmbedder("small", **{"base_url": server.url, "api_key": KEY, **options})

    return made


@pytest.fixture
def pauses(monkeypatch):
    """Let the pauses between tries pass at once; return them."""
    passed = []

    async def sleep(seconds):
        passed.append(seconds)

    async def retried(call, *, seconds):
        return await retrying.retried(call, seconds=seconds, sleep=sleep, chance=lambda: 0.0)

    monkeypatch.setattr(openai_embedder, "retried", retried)
    return passed
