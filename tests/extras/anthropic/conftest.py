import asyncio

import pytest

from tests.extras.model_server import ModelServer
from vectormem.adapters.anthropic_memory_tool import AsyncSlotMemoryTool, SlotMemoryTool


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


@pytest.fixture(params=[SlotMemoryTool, AsyncSlotMemoryTool], ids=["blocking", "async"])
def use(request):
    """Call a command of the tool over some slots."""

    def called(slots, command, context=None, **arguments):
        tool = request.param(slots, context)
        answer = tool.call({"command": command, **arguments})
        return asyncio.run(answer) if request.param is AsyncSlotMemoryTool else answer

    return called
