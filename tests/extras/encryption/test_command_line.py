"""The command line with an encrypted database: keys come from the environment alone."""

import pytest
from typer.testing import CliRunner

from tests.stores.raw_files import places_of
from vectormem.cli.app import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VECTORMEM_DB_KEY", "tangerine-4711")

    def call(*arguments, exit_code=0):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == exit_code, result.output
        assert "tangerine" not in result.output
        return result

    return call


def test_every_command_uses_the_key_of_the_environment(run, tmp_path, monkeypatch):
    run("add", "a needle in the haystack", "--key", "facts#sam")
    assert "needle" in run("list", "--key", "facts#sam").stdout
    assert "needle" in run("search", "haystack", "--key", "facts#sam").stdout
    assert "no problem found" in run("doctor").stdout
    run("history", "--on")
    run("backup", "monday.db")
    run("forget", "--all", "--key", "facts#sam")
    run("undo", "--key", "facts#sam")
    run("erase", "sam")
    run("restore", "monday.db", "--overwrite")
    assert run("keys").stdout == "facts#sam\t1\n"
    assert places_of("needle", tmp_path) == []


@pytest.mark.parametrize("command", ["list", "doctor", "stats", "erase"])
def test_without_the_key_or_with_another_one_a_command_says_so(run, monkeypatch, command):
    arguments = (command, "sam") if command == "erase" else (command,)
    run("add", "tea")
    monkeypatch.setenv("VECTORMEM_DB_KEY", "something else")
    assert "cannot be read with this key" in run(*arguments, exit_code=1).output
    monkeypatch.delenv("VECTORMEM_DB_KEY")
    assert "VECTORMEM_DB_KEY" in run(*arguments, exit_code=1).output


def test_rekey_changes_the_key_and_takes_it_away(run, tmp_path, monkeypatch):
    run("add", "a needle in the haystack")
    run("rekey", exit_code=2)
    monkeypatch.setenv("VECTORMEM_NEW_DB_KEY", "tangerine-4712")
    run("rekey", "--decrypt", exit_code=2)
    run("rekey")
    run("list", exit_code=1)
    monkeypatch.setenv("VECTORMEM_DB_KEY", "tangerine-4712")
    monkeypatch.delenv("VECTORMEM_NEW_DB_KEY")
    assert "needle" in run("list").stdout
    run("rekey", "--decrypt")
    run("list", exit_code=1)
    monkeypatch.delenv("VECTORMEM_DB_KEY")
    assert "needle" in run("list").stdout
    assert places_of("needle", tmp_path) == ["vectormem.db"]
