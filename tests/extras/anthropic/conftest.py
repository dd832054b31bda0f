import pytest

from tests.extras.model_server import ModelServer


@pytest.fixture
def model():
    """A local server in the place of Anthropic's."""
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
