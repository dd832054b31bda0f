"""The commands on a Postgres database give the answers that they give on a file, and show no password."""

import json

import pytest
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner

from vectormem.cli.app import app

PASSWORD = "s3cret-Word"


@pytest.fixture
def address(dsn, admin, schema):
    """A database of its own, as a URL with a password."""
    admin.execute(f"CREATE DATABASE {schema}")
    options = conninfo_to_dict(dsn)
    host, port = options.get("host", "localhost"), options.get("port", 5432)
    yield f"postgresql://{options['user']}:{PASSWORD}@/{schema}?host={host}&port={port}"
    admin.execute(f"DROP DATABASE {schema} WITH (FORCE)")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call the command line; what it prints holds no password, and it leaves no file behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VECTORMEM_DB", raising=False)

    def call(*args, exit_code=0, input=None):
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=input)
        assert result.exit_code == exit_code, result.output
        assert PASSWORD not in result.output + result.stderr
        return result

    return call


def document(result):
    return json.loads(result.stdout)


def test_items_are_added_listed_found_and_forgotten(run, address, tmp_path):
    tea = document(run("add", "likes green tea", "--metadata", '{"n": 1}', "--db", address, "--json"))
    oslo = document(run("add", "lives in Oslo", "--db", address, "--json"))
    assert (tea["added"], oslo["added"], tea["metadata"]) == (True, True, {"n": 1})
    assert document(run("add", "likes green tea", "--db", address, "--json"))["added"] is False
    listed = document(run("list", "--db", address, "--json"))["items"]
    assert [item["id"] for item in listed] == [oslo["id"], tea["id"]]
    found = document(run("search", "tea", "--db", address, "--json"))
    assert ([item["text"] for item in found["items"]], found["skipped"]) == (["likes green tea"], 0)
    run("forget", tea["id"], "--db", address)
    assert document(run("forget", "--all", "--yes", "--db", address, "--json"))["forgotten"] == 1
    assert run("keys", "--db", address).stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_keys_stats_and_doctor_count_what_is_there(run, address):
    run("add", "likes tea", "--key", "facts#user:ada", "--db", address)
    run("add", "likes milk", "--key", "facts#user:ben", "--embedder", "hash:8", "--db", address)
    assert run("keys", "--db", address).stdout == "facts#user:ada\t1\nfacts#user:ben\t1\n"
    stats = document(run("stats", "--db", address, "--json"))
    size = stats.pop("file_bytes")
    assert size > 100_000
    assert stats.pop("path").startswith("postgresql://")
    assert stats == {
        "items": 2,
        "keys": [
            {
                "key": key,
                "items": 1,
                "embedders": [{"embedder": name, "dimensions": dimensions, "vectors": 1}],
                "without_vector": 0,
            }
            for key, name, dimensions in (("facts#user:ada", "hash:256", 256), ("facts#user:ben", "hash:8", 8))
        ],
    }
    checked = document(run("doctor", "--db", address, "--json"))
    assert (checked["ok"], checked["keys"], checked["items"], checked["findings"]) == (True, 2, 2, [])
    assert checked["schema_version"] == checked["current_schema_version"] == 4
    assert document(run("doctor", "--key", "facts#user:ada", "--db", address, "--json"))["items"] == 1


def test_doctor_finds_counters_that_are_wrong_vectors_of_nothing_and_unfinished_indexes(run, address, dsn, schema):
    import psycopg
    from psycopg.conninfo import make_conninfo

    run("add", "likes tea", "--db", address)
    with psycopg.connect(make_conninfo(dsn, dbname=schema), autocommit=True) as connection:
        connection.execute("UPDATE vectormem.memory_keys SET items=7")
        connection.execute("UPDATE vectormem.memory_vectors SET seq=9")
        connection.execute("CREATE INDEX half ON vectormem.memory_items(text)")
        connection.execute("UPDATE pg_index SET indisvalid=false WHERE indexrelid='vectormem.half'::regclass")
    checked = document(run("doctor", "--db", address, "--json", exit_code=1))
    findings = {(finding["level"], finding["check"]): finding["message"] for finding in checked["findings"]}
    assert findings["problem", "counts"].startswith("key 'memory#global' counts 7 items up to number 1; there are 1")
    assert findings["problem", "orphans"] == "1 vector of no item"
    assert "index half is unfinished" in findings["note", "indexes"]


def test_a_search_names_what_it_passes_over_and_reindex_helps(run, address):
    run("add", "likes tea", "--embedder", "hash:8", "--db", address)
    result = run("search", "tea", "--db", address)
    assert "1 of 1 items were not searched: 1 embedded by hash:8 (8 d)" in result.stderr
    assert document(run("reindex", "--db", address, "--json"))["reindexed"] == 1
    assert run("search", "tea", "--db", address).stdout.endswith("likes tea\n")


def test_an_export_goes_into_another_database_and_out_again_the_same(run, address, tmp_path, monkeypatch):
    monkeypatch.setattr("vectormem.cli.inspection._AT_ONCE", 10)
    lines = "".join(f'{{"key": "notes#{"ab"[n % 2]}", "text": "fact {n}"}}\n' for n in range(61))
    imported = document(run("import", "-", "--format", "jsonl", "--db", address, "--json", input=lines))
    assert (imported["read"], imported["imported"]) == (61, 61)
    exported = run("export", "--all-keys", "--db", address).stdout
    order = [f"fact {n}" for n in (*range(0, 61, 2), *range(1, 61, 2))]
    assert [json.loads(line)["text"] for line in exported.splitlines()] == order
    run("import", "-", "--format", "jsonl", "--db", "file.db", input=exported)
    assert run("export", "--all-keys", "--db", "file.db").stdout == exported
    run("export", "--all-keys", "--db", address, "--output", "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == exported


def test_chats_are_imported(run, address):
    line = json.dumps({"conversation_id": "c", "role": "user", "content": "Where is the spare key?"})
    assert document(run("import", "-", "--db", address, "--json", input=line))["imported"] == 1
    assert document(run("import", "-", "--db", address, "--json", input=line))["read"] == 1


def test_the_address_may_stand_in_the_environment(run, address, monkeypatch):
    monkeypatch.setenv("VECTORMEM_DB", address)
    run("add", "likes tea")
    assert run("keys").stdout == "memory#global\t1\n"


@pytest.mark.parametrize(
    "command", [["list"], ["search", "tea"], ["forget", "x"], ["keys"], ["stats"], ["reindex"], ["export"], ["doctor"]]
)
def test_a_command_that_reads_makes_no_tables(run, address, dsn, schema, command):
    import psycopg
    from psycopg.conninfo import make_conninfo

    assert "has no tables of vectormem" in run(*command, "--db", address, exit_code=1).stderr
    with psycopg.connect(make_conninfo(dsn, dbname=schema)) as connection:
        assert connection.execute("SELECT to_regnamespace('vectormem')").fetchone() == (None,)


@pytest.mark.parametrize("command", [["chat", "--model", "test"], ["demo"]])
def test_what_needs_a_file_says_so_as_a_wrong_usage(run, address, command):
    assert "needs a database file" in run(*command, "--db", address, exit_code=2).stderr


@pytest.mark.parametrize("command", [["list"], ["add", "likes tea"], ["doctor"], ["export"], ["import", "-"]])
def test_a_server_that_is_down_is_an_error_without_the_password(run, command):
    for wrong in (f"postgresql://user:{PASSWORD}@127.0.0.1:1/db", f"postgresql://user:{PASSWORD}@Word@host/db"):
        result = run(*command, "--db", wrong, "--json", exit_code=1, input="a line\n")
        assert "cannot be re" in document(result)["error"]["message"]


def test_mcp_offers_the_memory_and_the_chats_of_the_server(run, address):
    import asyncio

    from vectormem.cli.embedder import parse_embedder
    from vectormem.cli.mcp_serving import Offer
    from vectormem.cli.place import parse_place
    from vectormem.mcp_server.caller import Caller

    offer, caller = Offer(parse_place(address), parse_embedder("hash"), None, "memory#global", None), Caller()
    with offer.opened([caller]) as memories:
        asyncio.run(memories.call(caller, "remember_memory", {"text": "likes tea"}))
    assert run("list", "--db", address).stdout.endswith("likes tea\n")
    assert PASSWORD not in repr(offer)
