"""Importing an adapter where its SDK is not installed."""

import subprocess
import sys

import pytest

ADAPTERS = {
    "openai_agents": ("agents", "openai-agents"),
    "openai_session": ("agents", "openai-agents"),
    "anthropic_memory_tool": ("anthropic", "anthropic"),
}

PROGRAM = """
import importlib, sys
sys.modules[sys.argv[2]] = None
from vectormem import MissingExtraError
try:
    importlib.import_module(f"vectormem.adapters.{sys.argv[1]}")
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_error_holds_the_install_line(adapter):
    package, extra = ADAPTERS[adapter]
    command = [sys.executable, "-c", PROGRAM, adapter, package]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(f"pip install 'vectormem[{extra}]'")
