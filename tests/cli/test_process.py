import json
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import vectormem.cli.app
import vectormem.cli.items
from tests.cli.conftest import KEY, command, in_process, in_terminal

COMMANDS = (
    "demo",
    "chat",
    "add",
    "list",
    "search",
    "forget",
    "keys",
    "stats",
    "reindex",
    "export",
    "import",
    "doctor",
    "embedders",
    "mcp",
)


def test_python_m_vectormem_is_the_command_line():
    added = in_process("add", "Sam is vegetarian", "--json")
    assert (added.returncode, added.stderr) == (0, b"")
    found = in_process("search", "vegetarian", "--json")
    assert [item["id"] for item in json.loads(found.stdout)["items"]] == [json.loads(added.stdout)["id"]]


def test_the_console_script_calls_the_same_function():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["vectormem"] == f"{vectormem.cli.app.__name__}:{vectormem.cli.app.main.__name__}"


def test_a_failure_shows_a_message_and_no_traceback():
    result = in_process("list")
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.startswith(b"error: there is no database vectormem.db;")
    assert result.stderr.count(b"\n") == 1


def test_wrong_usage_ends_with_status_2():
    result = in_process("search")
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"Usage: vectormem search" in result.stderr


def test_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"vectormem {version('vectormem')}\n"


def test_every_command_has_help_with_an_example_that_names_it(run):
    listed = run("--help").stdout
    for name in COMMANDS:
        assert f"│ {name} " in listed
        text = run(name, "--help")
        assert text.exit_code == 0
        assert f"Example: vectormem {name} " in text.stdout
        for option in ("--db", "--key", "--embedder", "--json"):
            assert option in text.stdout


def test_help_loads_no_package_that_it_does_not_need():
    code = (
        "import sys; sys.argv = ['vectormem', '--help']\n"
        "from vectormem.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pydantic', 'faiss', 'sqlite_vec', 'torch', 'openai', 'pytest'} & set(sys.modules)\n"
        "sys.exit(f'{heavy} loaded' if heavy else 0)"
    )
    result = in_process(code=code)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize(
    "arguments", [("list",), ("export",), ("list", "--json"), ("search", "fact", "--limit", "9999")]
)
def test_a_reader_that_leaves_early_ends_the_command_quietly(memory, arguments):
    memory().add_many(KEY, [f"fact {number} " + "x" * 1500 for number in range(2000)])
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)


@pytest.mark.parametrize("arguments", [("keys",), ("doctor",), ("--help",), ("list", "--help"), ("--version",)])
def test_a_reader_that_never_reads_ends_the_command_quietly(memory, arguments):
    memory().add(KEY, "tea")
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)


def test_json_on_standard_output_is_alone_there_even_with_a_bar_on_a_terminal(folder):
    (folder / "facts.jsonl").write_text("".join(f'{{"text": "fact {number}"}}\n' for number in range(2500)))
    with (folder / "out.json").open("wb") as out:
        status, shown = in_terminal("import", "facts.jsonl", "--json", stdout=out)
    assert (status, "100%" in shown) == (0, True)
    assert json.loads((folder / "out.json").read_text())["imported"] == 2500


def test_text_that_standard_output_cannot_encode_is_escaped():
    text = "naïve 藍 \N{GRINNING FACE}"
    in_process("add", text)
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    plain, document, lines = (in_process(*one, env=ascii_only) for one in (("list",), ("list", "--json"), ("export",)))
    assert plain.stdout.rstrip().endswith(rb"na\xefve \u85cd \U0001f600")
    assert json.loads(document.stdout)["items"][0]["text"] == text
    assert json.loads(lines.stdout)["text"] == text


def test_what_is_typed_on_a_terminal_ends_at_the_first_end_of_input():
    status, shown = in_terminal("add", "-", typed=b"\x04")
    assert status == 1
    assert "error: the text of an item must not be empty or blank" in shown


def test_an_interrupt_ends_a_command_without_a_traceback(run, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(vectormem.cli.items, "stdin_text", interrupted)
    result = run("add", "-")
    assert result.exit_code in (1, 130)
    assert "Traceback" not in result.output
