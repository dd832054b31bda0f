"""Adapters whose frameworks are not installed: importing one names the install line."""

import importlib
import sys

import pytest

from vectormem import MissingExtraError, RedisKV

LANGCHAIN = ("langgraph", "langchain", "langchain_core", "langgraph")
ADAPTERS = {  # the extra, then the packages that are hidden
    "agent_framework": ("agent-framework", "agent_framework"),
    "anthropic_memory_tool": ("anthropic", "anthropic"),
    "google_adk": ("google-adk", "google.adk"),
    "google_adk_service": ("google-adk", "google.adk"),
    "langchain": LANGCHAIN,
    "langchain_embedder": LANGCHAIN,
    "langchain_tools": LANGCHAIN,
    "langchain_vectors": LANGCHAIN,
    "langgraph_saver": LANGCHAIN,
    "langgraph_store": LANGCHAIN,
    "llama_index": ("llama-index", "llama_index.core"),
    "openai_agents": ("openai-agents", "agents"),
    "openai_session": ("openai-agents", "agents"),
    "pydantic_ai": ("pydantic-ai", "pydantic_ai"),
    "pydantic_ai_tools": ("pydantic-ai", "pydantic_ai"),
    "pydantic_ai_conversations": ("pydantic-ai", "pydantic_ai"),
}


def hide(monkeypatch, package):
    """Let every import of a package fail."""
    for name in [one for one in sys.modules if one.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_importing_an_adapter_without_its_framework_names_the_install_line(monkeypatch, adapter):
    extra, *packages = ADAPTERS[adapter]
    for package in packages:
        hide(monkeypatch, package)
    for name in [one for one in sys.modules if one.startswith("vectormem.adapters.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=rf"pip install 'vectormem\[{extra}\]'") as caught:
        importlib.import_module(f"vectormem.adapters.{adapter}")
    assert isinstance(caught.value, ImportError)
    assert caught.value.code == "EXTRA_MISSING"


def test_making_a_redis_kv_without_redis_names_the_install_line(monkeypatch):
    hide(monkeypatch, "redis")
    with pytest.raises(MissingExtraError, match=r"pip install 'vectormem\[redis\]'"):
        RedisKV("redis://localhost")
