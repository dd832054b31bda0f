"""The measuring half of `python -m benchmarks scaling`, at a tiny size."""

import json

from benchmarks import cli


def test_a_server_is_measured_and_its_figures_are_computed_with(dsn, tmp_path, capsys):
    run = tmp_path / "run.json"
    warm = {f"warm-{items}": {"engines": {"vectormem": {"median_ms": 1.0}}} for items in (100, 5000, 100_000)}
    bulk = {"bulk-100000": {"engines": {"vectormem": {"items_per_second": 1e4}}}}
    run.write_text(json.dumps({"rows": {**warm, **bulk}}))
    out = tmp_path / "scaling.json"
    options = ["--items", "1500", "--run", "run.json", "--constants", str(out)]
    assert cli.main(["scaling", "--dsn", dsn, *options]) == 0
    found = json.loads(out.read_text())
    assert found["server"]["items"] == 1500
    assert 1536 < found["file_bytes_per_item"] < 3000
    assert 1536 < found["server"]["bytes_per_item"] < 3500
    assert 1536 < found["server"]["index_bytes_per_item"] < 4096
    assert [items for items, _ in found["server"]["compared_ms"]] == [1000, 1500]
    assert capsys.readouterr().out.count("\n") == 17
