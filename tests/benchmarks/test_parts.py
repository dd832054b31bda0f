import asyncio

import numpy as np
import pytest

from benchmarks import data
from benchmarks.chart import Bar, Panel, render
from benchmarks.engines import ENGINES, EngineSpec
from benchmarks.exact import Truth
from benchmarks.job import Job
from benchmarks.limits import BareFile, NumpyProduct, bare_rows
from benchmarks.plan import Settings, choose
from benchmarks.process import run
from benchmarks.rows.filling import TooSlowError, fill
from benchmarks.station import Station
from benchmarks.targets import judge
from benchmarks.timing import Series
from benchmarks.workload import PreparedEmbedder, Shape, batch_of, item_text, number_of


def unit_rows(count, dimensions=8, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_recall_counts_what_a_full_sort_in_float64_would_find():
    items, queries, shape = unit_rows(300), unit_rows(5, seed=1), Shape(1, 300)
    truth = Truth.compute(items, queries, shape)
    order = np.argsort(-(items.astype(np.float64) @ queries[3].astype(np.float64)))
    best = order[:10].tolist()
    assert truth.recall(items, queries, [(3, best)], 10) == 1.0
    assert truth.recall(items, queries, [(3, [*best[:7], *order[200:203].tolist()])], 10) == 0.7
    assert truth.recall(items, queries, [(3, best[:1] * 10)], 10) == 0.1


def test_an_item_of_another_key_is_not_counted():
    items, queries, shape = unit_rows(40), unit_rows(2, seed=1), Shape(2, 20)
    truth = Truth.compute(items, queries, shape)
    assert truth.recall(items, queries, [(1, range(20, 30))], 10) > 0
    assert truth.recall(items, queries, [(1, range(20))], 10) == 0.0


def test_a_key_with_fewer_items_than_asked_for_can_be_found_whole():
    items, queries, shape = unit_rows(20), unit_rows(1, seed=1), Shape(1, 20)
    assert Truth.compute(items, queries, shape).recall(items, queries, [(0, range(20))], 100) == 1.0


def test_the_bare_product_finds_the_nearest_of_its_key():
    items, query = unit_rows(60), unit_rows(1, seed=1)[0]
    product = NumpyProduct(items, Shape(3, 20))
    found = product.numbers(2, product.query(2, query, 5))
    assert set(found) == {40 + int(position) for position in np.argsort(items[40:] @ query)[-5:]}


def test_a_bare_file_gives_back_what_was_inserted(tmp_path):
    items = unit_rows(30)
    file = BareFile(tmp_path)
    file.insert(bare_rows(batch_of(items, range(20))))
    file.insert_one(bare_rows(batch_of(items, range(20, 21)))[0])
    seqs, matrix = file.read_all()
    file.close()
    assert seqs.tolist() == list(range(21))
    np.testing.assert_array_equal(matrix, items[:21])


def test_the_embedder_gives_the_vector_prepared_for_a_text():
    items, queries = unit_rows(10), unit_rows(3, seed=1)
    embedder = PreparedEmbedder(items, queries)
    np.testing.assert_array_equal(embedder.lookup([item_text(7), item_text(2)]), items[[7, 2]])
    np.testing.assert_array_equal(embedder.lookup(["search 00000001"]), queries[[1]])
    assert number_of(item_text(12345678)) == 12345678


def test_stretching_begins_with_the_real_vectors_and_keeps_their_spread():
    wide_and_narrow = np.repeat([1.0, 0.1], 64).astype(np.float32)
    real = data.unit(unit_rows(500, 128) * wide_and_narrow)
    made = np.concatenate(list(data.stretch(real, 20_500, seed=1)))
    np.testing.assert_array_equal(made[:500], real)
    assert len(made) == 20_500
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(made[500:].std(axis=0), real.std(axis=0), rtol=0.05)


def test_stretching_is_the_same_for_the_same_seed():
    real = unit_rows(100)
    first, second, other = (np.concatenate(list(data.stretch(real, 200, seed))) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_whole_numbers_in_a_file_become_unit_vectors_and_the_last_rows_queries(tmp_path):
    stored = (unit_rows(50) * 127).astype(np.int8)
    np.save(tmp_path / "rows.npy", stored)
    source = data.read_real(tmp_path / "rows.npy")
    np.testing.assert_array_equal(source.queries, data.unit(stored[45:].astype(np.float32)))
    assert len(source.items) == 45


def test_p95_is_the_time_that_one_in_twenty_exceeds():
    series = Series([number / 1000 for number in range(100, 0, -1)])
    assert series.figures() == {"median_ms": 50.5, "p95_ms": 96.0, "repetitions": 100}


class Slow:
    step = 10

    async def add_many(self, key, batch):
        pass


def test_filling_stops_where_it_would_go_beyond_the_budget(monkeypatch):
    clock = iter(range(0, 1000, 6))
    monkeypatch.setattr("benchmarks.rows.filling.time.perf_counter", lambda: next(clock))
    job = Job("fill", "slow", Shape(1, 100), "", "", seconds=1, budget=30)
    with pytest.raises(TooSlowError, match=r"adding 100 items would take 60 s or more \(budget 30 s\)"):
        asyncio.run(fill(Slow(), unit_rows(100), job))


def test_a_job_that_fails_gives_its_last_words(tmp_path):
    job = Job("serve", "vectormem", Shape(1, 5), str(tmp_path), str(tmp_path), 1, 1)
    assert "queries.npy" in run(job, most_seconds=60)["failed"]


def test_a_job_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.process._POLL_SECONDS", 0.001)
    job = Job("serve", "vectormem", Shape(1, 5), str(tmp_path), str(tmp_path), 1, 1)
    assert run(job, most_seconds=0) == {"skipped": "took more than 0 s"}


def test_an_engine_that_is_not_installed_is_told_so_and_not_run(monkeypatch, tmp_path):
    absent = EngineSpec("Absent", "absent", "Absent", ("no-such-distribution",), "import no_such_package_here")
    monkeypatch.setitem(ENGINES, "absent", absent)
    row = choose(["warm-100"])[0]
    station = Station(Settings((row,), ("absent",)), "absent", [row], tmp_path, print)
    assert station.measure() == {"warm-100": {"cannot": "not installed: pip install no-such-distribution"}}


def test_targets_are_held_against_the_figures():
    rows = {
        "warm-100": {"engines": {"vectormem": {"median_ms": 0.3}}},
        "add-0": {"engines": {"vectormem": {"median_ms": 1.0, "times_apsw": 2.0}}},
        "add-100000": {"engines": {"vectormem": {"median_ms": 1.4}}},
        "memory-100000": {"engines": {"vectormem": {"grown_mb": 260.0, "float32_mb": 100.0}}},
    }
    verdicts = {(one.work, one.target): (one.value, one.met) for one in judge(rows)}
    assert verdicts["warm-100", "<= 0.25 ms"] == (0.3, False)
    assert verdicts["add-0", "<= 2.5x a bare apsw transaction"] == (2.0, True)
    assert verdicts["add", "flat: at 100,000 items <= 1.5x the time at 0"] == (1.4, True)
    assert verdicts["memory-100000", "<= 1.25x the float32 bytes + 60 MB"] == (2.0, False)
    assert verdicts["warm-20x5000", "<= 2.0x the bare numpy product"] == (None, None)


def test_the_chart_draws_longer_bars_for_longer_times_and_escapes_titles():
    svg = render([Panel("a & b", [Bar("fast", 1.0, "own"), Bar("slow", 10.0, "peer", 0.9)])], ["print"])
    widths = [float(line.split('width="')[1].split('"')[0]) for line in svg.splitlines() if "<rect" in line]
    assert widths[0] < widths[1]
    assert "a &amp; b" in svg
    assert "recall 0.900" in svg
