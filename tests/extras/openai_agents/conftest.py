import agents
import pytest

from vectormem.adapters.openai_agents import _runs


@pytest.fixture(autouse=True)
def no_tracing(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    agents.set_tracing_disabled(True)


@pytest.fixture(autouse=True)
def no_paused_runs():
    """Scripts name their calls alike, which models do not: no test finds the paused runs of another."""
    _runs._paused.clear()
