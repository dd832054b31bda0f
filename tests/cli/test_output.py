import json

import pytest

from tests.cli.conftest import KEY, in_terminal
from vectormem.cli.output import shown, to_json

HOSTILE = (
    "a\x1b[2Jb\x9b31mc\rd\x07e\x7ff\u202eg\u2028h\u200bi\U000e0041j [bold red]k[/] [link=file:///etc/passwd]l[/link]"
)
ESCAPED = (
    r"a\x1b[2Jb\x9b31mc\rd\x07e\x7ff\u202eg\u2028h\u200bi\U000e0041j [bold red]k[/] [link=file:///etc/passwd]l[/link]"
)
FORBIDDEN = ("\x9b", "\x07", "\x7f", "\u202e", "\u2028", "\u200b", "\U000e0041")


def test_text_of_all_scripts_is_shown_as_it_is():
    text = "naïve straße İnci 藍色　 क्षि नमस्ते فارسی\u200cها 👩\u200d👩\u200d👧 ❤️ \xa0| C:\\new"
    assert shown(text) == text


def test_what_acts_on_a_terminal_is_shown_escaped():
    assert shown(HOSTILE) == ESCAPED
    assert shown("a\nb\tc\0d\ud83d") == r"a\nb\tc\x00d\ud83d"


def test_json_holds_the_same_text_without_acting_on_a_terminal():
    document = to_json({HOSTILE: [HOSTILE, "藍\n", "\ud83d"]}, indent=2)
    assert json.loads(document) == {HOSTILE: [HOSTILE, "藍\n", "\ud83d"]}
    assert not any(mark in document for mark in (*FORBIDDEN, "\x1b"))


@pytest.mark.parametrize(
    "command", [("list",), ("search", "bold", "--min-score", "0"), ("export",), ("list", "--json")]
)
def test_a_hostile_item_is_harmless_in_a_pipe(run, memory, command):
    memory(new_id=lambda: "id-1").add(KEY, HOSTILE, metadata={"note": HOSTILE})
    result = run(*command)
    assert result.exit_code == 0
    assert "[bold red]k[/]" in result.stdout
    assert not any(mark in result.stdout for mark in (*FORBIDDEN, "\x1b", "\r"))


@pytest.mark.parametrize(
    "command", [("list",), ("search", "bold", "--min-score", "0"), ("list", "--json"), ("export",)]
)
def test_a_hostile_item_is_harmless_on_a_terminal(memory, command):
    memory(new_id=lambda: "id-1").add(KEY, HOSTILE, metadata={"note": HOSTILE})
    status, output = in_terminal(*command)
    assert status == 0
    assert "[bold red]k[/]" in output
    assert "\x1b[2J" not in output
    assert not any(mark in output for mark in FORBIDDEN)


@pytest.mark.parametrize("command", [("keys",), ("stats",), ("doctor",)])
def test_a_hostile_key_is_harmless_on_a_terminal(memory, command):
    memory().add("slot#" + HOSTILE, "tea")
    memory(embedder=False).add("slot#" + HOSTILE, "coffee")
    _, output = in_terminal(*command)
    assert "\x1b[2J" not in output
    assert not any(mark in output for mark in FORBIDDEN)


def test_a_hostile_argument_is_harmless_in_messages(run, memory):
    memory().add(KEY, "tea")
    for arguments in (("forget", "x\x1b[2J"), ("list", "--db", "x\x1b[2J"), ("forget", "x", "--key", "k\x1b[2J")):
        result = run(*arguments)
        assert result.exit_code == 1
        assert "\x1b" not in result.stderr
