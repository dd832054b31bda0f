"""Without the extra langgraph its modules say how to install it, and everything else works."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
for name in ("langchain", "langchain_core", "langgraph"):
    sys.modules[name] = None
from vectormem import MissingExtraError
try:
    import vectormem.adapters.{module}
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "module",
    ["langchain", "langchain_embedder", "langchain_parts", "langchain_vectors", "langgraph_saver", "langgraph_store"],
)
def test_a_module_names_the_extra_that_it_needs(module):
    program = PROGRAM.format(module=module)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'vectormem[langgraph]'" in done.stdout
