"""What `--db` may name: a file, or a server whose password is never shown."""

import sys

import pytest

from vectormem.cli.place import FilePlace, ServerPlace, parse_place


def test_a_dsn_is_a_server_and_all_else_a_file():
    assert isinstance(parse_place("postgresql://u@h/db"), ServerPlace)
    assert isinstance(parse_place("postgres://u@h/db"), ServerPlace)
    for name in ("agent.db", "postgresql", "host=h dbname=d", "./postgresql:/x"):
        assert parse_place(name) == FilePlace(type(parse_place(name).path)(name))


def test_the_representation_of_a_server_holds_no_password():
    assert "s3cret" not in repr(parse_place("postgresql://u:s3cret@h/db"))


@pytest.mark.parametrize("command", [["list"], ["add", "x"], ["doctor"], ["stats"], ["copy", "a.jsonl"]])
def test_without_the_driver_each_command_says_what_to_install(run, folder, monkeypatch, command):
    for name in ("psycopg", "pgvector", "pgvector.psycopg"):
        monkeypatch.setitem(sys.modules, name, None)
    (folder / "a.jsonl").write_text("")
    address = "postgresql://u:s3cret@127.0.0.1:1/db"
    result = run(*command, *([address] if command[0] == "copy" else ["--db", address]))
    assert result.exit_code == 1
    assert "pip install 'vectormem[postgres]'" in result.stderr
    assert "s3cret" not in result.output + result.stderr
