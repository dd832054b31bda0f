"""The benchmark of many clients, at a tiny size."""

import json

from benchmarks import cli


def test_every_engine_is_measured_without_an_error(dsn, tmp_path, capsys):
    out = tmp_path / "load.json"
    options = ["--clients", "4", "--pool", "3", "--keys", "5", "--items", "2", "--seconds", "0.3"]
    assert cli.main(["load", "--dsn", dsn, "--work", str(tmp_path), "--out", str(out), *options]) == 0
    document = json.loads(out.read_text())
    assert json.loads(capsys.readouterr().out) == document
    assert list(document["engines"]) == ["vectormem on Postgres", "plain pgvector table", "vectormem on SQLite"]
    for figures in document["engines"].values():
        assert figures["errors"] == 0
        assert figures["calls"] == figures["add"]["calls"] + figures["recall"]["calls"]
        assert min(figures["add"]["calls"], figures["recall"]["calls"]) > 0
