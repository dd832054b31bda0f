"""Every row of the benchmark at a tiny size, with vectormem and the bare limits only."""

import json
import xml.etree.ElementTree as ET

import pytest

from benchmarks import cli
from benchmarks.plan import ROWS, choose

TINY = ["--scale", "0.002", "--seconds", "0.02", "--processes", "1"]
ITEMS = {100: 20, 5_000: 20, 10_000: 20, 100_000: 200, 1_000_000: 2_000}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The file of one run over all rows."""
    folder = tmp_path_factory.mktemp("results")
    path = folder / "tiny.json"
    assert cli.main([*TINY, "--engines", "vectormem", "--work", str(folder), "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def document(path):
    return json.loads(path.read_text())


def own(document, kind):
    """The figures of vectormem by row name."""
    return {row.name: document["rows"][row.name]["engines"]["vectormem"] for row in choose([kind])}


def test_each_row_has_figures_of_vectormem(document):
    assert list(document["rows"]) == [row.name for row in ROWS]
    for name, row in document["rows"].items():
        assert not {"failed", "skipped", "cannot"} & row["engines"]["vectormem"].keys(), name


def test_each_row_tells_how_many_items_it_measured(document):
    for row in ROWS:
        if row.shape and row.shape.items:
            measured = document["rows"][row.name]
            assert (measured["keys"], measured["items"]) == (row.shape.keys, row.shape.keys * ITEMS[row.shape.per_key])


def test_warm_rows_stand_beside_the_bare_product(document):
    for figures in own(document, "warm").values():
        assert {"median_ms", "p95_ms", "repetitions", "recall@10", "recall@100", "times_numpy"} <= figures.keys()
        ratio = figures["median_ms"] / figures["numpy"]["median_ms"]
        assert figures["times_numpy"] == pytest.approx(ratio, rel=1e-4)


def test_the_bare_product_finds_everything_and_so_does_vectormem_at_this_size(document):
    for name, figures in own(document, "warm").items():
        found = (figures["numpy"]["recall@10"], figures["recall@10"], figures["recall@100"])
        assert found == (1.0, 1.0, 1.0), name


def test_first_queries_find_everything_and_stand_beside_bare_reads(document):
    for figures in own(document, "first").values():
        assert figures["recall@10"] == 1.0
        assert len(figures["later_ms"]) == 4
        assert figures["times_apsw"] == pytest.approx(figures["median_ms"] / figures["apsw"]["median_ms"], rel=1e-4)


def test_adds_stand_beside_bare_transactions(document):
    for figures in own(document, "add").values():
        assert figures["repetitions"] == figures["apsw"]["repetitions"] >= 1
        assert figures["times_apsw"] > 0
    (bulk,) = own(document, "bulk").values()
    assert bulk["share_of_apsw"] == pytest.approx(bulk["items_per_second"] / bulk["apsw"]["items_per_second"], rel=1e-4)


def test_memory_is_told_beside_the_bytes_of_the_vectors(document):
    figures = own(document, "memory")["memory-100000"]
    assert figures["float32_mb"] == pytest.approx(200 * 384 * 4 / 2**20, rel=1e-4)


def test_imports_and_sizes_are_told(document):
    imports = document["rows"]["import"]["engines"]
    assert imports["vectormem"]["over_bare_ms"] == pytest.approx(
        imports["vectormem"]["median_ms"] - imports["numpy, pydantic"]["median_ms"], abs=0.01
    )
    assert 0 < own(document, "size")["size"]["own_mb"] < 5


def test_the_file_tells_where_and_with_what_it_was_measured(document):
    assert {"cpu", "cores", "memory_gb", "os", "python", "file_system"} == document["machine"].keys()
    assert {"apsw", "numpy", "vectormem"} <= document["versions"].keys()
    assert {"date", "commit", "settings", "notes", "targets"} <= document.keys()
    assert document["settings"]["scale"] == 0.002


def test_synthetic_vectors_and_a_scale_are_owned_up_to(document):
    assert "synthetic" in document["notes"][0]
    assert "scaled" in document["notes"][1]


def test_targets_about_absent_peers_are_neither_met_nor_missed(document):
    assert {one["met"] for one in document["targets"] if "chroma" in one["target"]} == {None}
    assert all(one["met"] in (True, False) for one in document["targets"] if "numpy product" in one["target"])


def test_the_chart_is_drawn(path):
    root = ET.fromstring(path.with_suffix(".svg").read_text())
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("vectormem") == 3
