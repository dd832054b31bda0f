"""The command `chat` without its extra."""

from tests.cli.conftest import in_process

WITHOUT = "import sys; sys.modules['pydantic_ai'] = None\n"
INSTALL = "pip install 'vectormem[pydantic-ai]'"


def test_the_command_chat_says_how_to_install_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = WITHOUT + ("sys.argv = ['vectormem', 'chat', '--model', 'test']\nfrom vectormem.cli.app import main\nmain()")
    result = in_process(code=code)
    assert (result.returncode, result.stdout) == (1, b"")
    assert INSTALL.encode() in result.stderr
    assert b"Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []
