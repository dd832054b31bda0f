"""Without the extra: what says how to install it."""

import importlib
import sys

import pytest

from tests.cli.conftest import in_process
from vectormem import MissingExtraError

WITHOUT = "import sys; sys.modules['pydantic_ai'] = None\n"
INSTALL = "pip install 'vectormem[pydantic-ai]'"


def test_importing_the_adapter_says_how_to_install_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    for name in [name for name in sys.modules if name.startswith("vectormem.adapters.pydantic_ai")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module("vectormem.adapters.pydantic_ai")
    assert INSTALL in str(caught.value)


def test_the_command_chat_says_how_to_install_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = WITHOUT + ("sys.argv = ['vectormem', 'chat', '--model', 'test']\nfrom vectormem.cli.app import main\nmain()")
    result = in_process(code=code)
    assert (result.returncode, result.stdout) == (1, b"")
    assert INSTALL.encode() in result.stderr
    assert b"Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []
