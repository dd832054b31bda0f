"""The sizing of docs/scaling.md: computed as said, and printed there as it is computed."""

import json
import math

import pytest

from benchmarks import cli, scaling
from benchmarks.scaling import Machine, Measured, between, many_keys, one_key
from tests.repository.sources import ROOT

MEASURED = Measured(
    file_bytes=2000,
    file_adds=50_000,
    file_query=((100, 0.1), (5000, 0.5), (100_000, 2.4)),
    server_bytes=2500,
    server_adds=10_000,
    server_compared=((1000, 5.0), (50_000, 54.0)),
    index_bytes=2048,
    index_query=(50_000, 7.0),
    index_build=(50_000, 36.0),
)
MACHINE = Machine(memory=128, disk=2000)


@pytest.mark.parametrize(
    ("items", "expected"), [(10, 0.1), (100, 0.1), (2550, 0.3), (5000, 0.5), (52_500, 1.45), (1_000_000, 20.4)]
)
def test_a_time_lies_on_the_line_between_what_was_measured_and_goes_on_behind_it(items, expected):
    assert between(MEASURED.file_query, items) == pytest.approx(expected)


def test_items_of_many_keys_are_divided_among_servers_by_their_disks():
    need = many_keys(MEASURED, 1_000_000_000, 1000, MACHINE)
    assert need["server_gb"] == 2500
    assert need["servers"] == 2  # 2,500 GB on disks that are filled to 1,400
    assert need["server_load_hours"] == pytest.approx(1e9 / 10_000 / 3600 / 2)
    assert need["keys_per_server"] == 500_000
    assert need["server_query_ms"] == many_keys(MEASURED, 10_000, 1000, MACHINE)["server_query_ms"] == 5.0
    assert many_keys(MEASURED, 10_000, 1000, MACHINE)["servers"] == 1


def test_one_key_grows_with_the_logarithm_until_its_index_is_larger_than_the_memory():
    need = one_key(MEASURED, 1_000_000, MACHINE)
    assert need["index_gb"] == pytest.approx(2.048)
    assert need["server_query_ms"] == pytest.approx(7 * math.log(1e6) / math.log(5e4))
    assert need["index_hours"] == pytest.approx(36 * 20 * math.log(1e6) / math.log(5e4) / 3600)
    assert need["fits"] is True
    assert one_key(MEASURED, 100_000_000, MACHINE)["fits"] is False


def test_a_small_key_has_no_index():
    need = one_key(MEASURED, 10_000, MACHINE)
    assert (need["index_gb"], need["server_query_ms"]) == (0, pytest.approx(14.0))


def test_the_tables_of_the_documentation_are_those_that_the_command_prints(capsys):
    assert cli.main(["scaling"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 17
    page = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    for table in printed.split("\n\n"):
        assert table.strip() in page


def test_a_server_with_less_memory_and_disk_divides_sooner(capsys):
    cli.main(["scaling", "--memory", "1", "--disk", "100", "--per-key", "5000"])
    lines = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| 1,000,000 ")]
    assert (lines[0][-1], lines[1][-1]) == ("1 |", "no |")


def test_the_figures_name_the_run_that_goes_with_them():
    own = json.loads(scaling._CONSTANTS.read_text())
    assert (scaling._CONSTANTS.parent / own["run"]).is_file()
