"""`vectormem copy` from SQLite to Postgres and back: what comes back is what was there."""

import json

import pytest
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner

from embedders import HashEmbedder
from tests.cli.test_copy import fill, held
from vectormem import ChatStorage, PostgresStore, PostgresVectorMemory, blocking
from vectormem.cli.app import app


@pytest.fixture
def address(dsn, admin, schema):
    """A database of its own, as a URL with a password."""
    admin.execute(f"CREATE DATABASE {schema}")
    options = conninfo_to_dict(dsn)
    host, port = options.get("host", "localhost"), options.get("port", 5432)
    yield f"postgresql://{options['user']}:s3cret-Word@/{schema}?host={host}&port={port}"
    admin.execute(f"DROP DATABASE {schema} WITH (FORCE)")


def test_a_database_goes_to_postgres_and_comes_back_the_same(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill("from.db", count=700)

    def copy(*ends):
        result = CliRunner().invoke(app, ["copy", *ends, "--json"])
        assert result.exit_code == 0, result.output
        assert "s3cret-Word" not in result.output
        return json.loads(result.stdout)

    everything = {"items": {"read": 701, "copied": 701}, "messages": {"read": 2, "copied": 2}}
    nothing = {"items": {"read": 701, "copied": 0}, "messages": {"read": 2, "copied": 0}}
    assert copy("from.db", address) == everything
    assert copy("from.db", address) == nothing
    assert copy(address, "to.db") == everything
    assert held("to.db") == held("from.db")


def test_a_database_goes_to_postgres_and_back_through_lines_of_json(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill("from.db", count=700)
    for ends in (("from.db", "one.jsonl"), ("one.jsonl", address), (address, "two.jsonl"), ("two.jsonl", "to.db")):
        result = CliRunner().invoke(app, ["copy", *ends])
        assert result.exit_code == 0, result.output
    assert held("to.db") == held("from.db")


def test_one_key_moves_to_postgres_with_its_vectors(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill("from.db")
    assert CliRunner().invoke(app, ["copy", "from.db", address, "--key", "notes#a"]).exit_code == 0
    with PostgresStore(address) as store:
        memory = blocking(PostgresVectorMemory(store, embedder=HashEmbedder()))
        assert (memory.scope_keys(), memory.count("notes#a"), memory.reindex()) == (["notes#a"], 5, 0)
        assert blocking(ChatStorage(store, embedder=HashEmbedder(), scope_key="user:ada")).conversations() == []


def test_a_server_that_is_down_is_an_error_without_the_password(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill("from.db")
    result = CliRunner().invoke(app, ["copy", "from.db", "postgresql://user:s3cret-Word@127.0.0.1:1/db"])
    assert result.exit_code == 1
    assert "cannot be reached" in result.stderr
    assert "s3cret-Word" not in result.output
