import json

import pytest

from tests.cli.conftest import in_process

WITHOUT_THE_EXTRA = (
    "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n"
    "sys.argv = ['vectormem', 'mcp', *{!r}]\n"
    "from vectormem.cli.app import main\n"
    "main()"
)


@pytest.mark.parametrize("transport", [(), ("--http", "--port", "0")])
def test_without_the_extra_the_install_line_is_shown(transport, folder):
    result = in_process(code=WITHOUT_THE_EXTRA.format(transport))
    assert (result.returncode, result.stdout) == (1, b"")
    assert b"pip install 'vectormem[mcp]'" in result.stderr
    assert list(folder.iterdir()) == []


def test_with_json_it_is_shown_as_json():
    result = in_process(code=WITHOUT_THE_EXTRA.format(("--json",)))
    assert json.loads(result.stdout)["error"]["code"] == "EXTRA_MISSING"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--port", "8000"), "need --http"),
        (("--host", "127.0.0.1"), "need --http"),
        (("--tokens", "tokens.json"), "need --http"),
        (("--allow-host", "a.example"), "need --http"),
        (("--http", "--tokens", "tokens.json", "--principal", "ada"), "give one of the two"),
        (("--http", "--tokens", "tokens.json", "--token", "t"), "take away --token"),
        (("--port", "0"), "need --http"),
        (("--key", "facts#user:ada", "--principal", "ada"), "--key names one memory"),
        (("--key", "facts#user:ada", "--slots", "slots"), "--key names one memory"),
        (("--http", "--key", "facts#user:ada", "--tokens", "tokens.json"), "--key names one memory"),
        (("--key", "facts"), "SLOT#SCOPE_KEY"),
        (("--key", "#global"), "SLOT#SCOPE_KEY"),
        (("--key", "facts#"), "SLOT#SCOPE_KEY"),
        (("--principal", " "), "must not be blank"),
        (("--http", "--port", "65536"), "65535"),
        (("--embedder", "word2vec"), "there is no embedder"),
        (("--embedder", "st"), "st:MODEL needs"),
        (("--db", ":memory:"), "would be gone"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(run, arguments, reason):
    result = run("mcp", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in " ".join(result.stderr.replace("│", " ").split())
