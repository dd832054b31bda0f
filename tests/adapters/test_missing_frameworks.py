"""Adapters whose frameworks are not installed: importing one names the install line."""

import importlib
import sys

import pytest

from vectormem import MissingExtraError, RedisKV

ADAPTERS = {
    "agent_framework": ("agent_framework", "agent-framework"),
    "google_adk": ("google.adk", "google-adk"),
    "google_adk_service": ("google.adk", "google-adk"),
    "llama_index": ("llama_index.core", "llama-index"),
}


def hide(monkeypatch, package):
    """Let every import of a package fail."""
    for name in [one for one in sys.modules if one.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_importing_an_adapter_without_its_framework_names_the_install_line(monkeypatch, adapter):
    package, extra = ADAPTERS[adapter]
    hide(monkeypatch, package)
    monkeypatch.delitem(sys.modules, f"vectormem.adapters.{adapter}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'vectormem\[{extra}\]'") as caught:
        importlib.import_module(f"vectormem.adapters.{adapter}")
    assert isinstance(caught.value, ImportError)
    assert caught.value.code == "EXTRA_MISSING"


def test_making_a_redis_kv_without_redis_names_the_install_line(monkeypatch):
    hide(monkeypatch, "redis")
    with pytest.raises(MissingExtraError, match=r"pip install 'vectormem\[redis\]'"):
        RedisKV("redis://localhost")
