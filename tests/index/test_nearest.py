"""The nearest vectors, against cosines computed in double precision one by one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vectormem.index import vectors as vectors_module
from vectormem.index.search import best, exact_scores
from vectormem.index.vectors import VectorIndex, Wanted

DIMENSIONS = 5
GENERATOR = np.random.default_rng(20260101)


def unit(rows):
    rows = np.asarray(rows, np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms == 0, 1, norms)).astype(np.float32)


SAMPLE = GENERATOR.normal(size=(9, DIMENSIONS))
POOL = unit([*SAMPLE, *-SAMPLE[:3], np.zeros(DIMENSIONS)])
"""Vectors whose cosines differ clearly, some opposite ones, and the zero vector."""


def cosine(one, other):
    """The cosine by exact sums; 0 where a vector is zero."""
    one, other = [float(x) for x in one], [float(x) for x in other]
    norms = math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / norms if norms else 0.0


def brute_force(rows, query, limit, min_score):
    """The expected sequence numbers: best first, newer first among equals."""
    if not query.any():
        return []
    scores = {seq: cosine(vector, query) for seq, vector in rows.items()}
    ranking = sorted(scores, key=lambda seq: (-round(scores[seq], 12), -seq))
    return [seq for seq in ranking if scores[seq] >= min_score - 1e-6][:limit]


@settings(max_examples=150)
@given(
    picks=st.lists(st.integers(0, len(POOL) - 1), max_size=60),
    removed=st.sets(st.integers(1, 60)),
    pick=st.integers(0, len(POOL) - 1),
    limit=st.none() | st.integers(1, 70),
    min_score=st.sampled_from([-1.0, -0.3, 0.0, 0.2, 0.5, 0.9, 1.0]),
    exact=st.booleans(),
)
def test_the_nearest_are_those_of_a_search_through_all(picks, removed, pick, limit, min_score, exact):
    """weaviate/weaviate#11609, tteon/seocho#122, facebookresearch/faiss#1731, vlasky/sqlite-vec#8"""
    index = VectorIndex(DIMENSIONS)
    index.append(range(1, len(picks) + 1), POOL[picks].reshape(-1, DIMENSIONS))
    for seq in removed:
        index.remove([seq])
    rows = {seq: POOL[one] for seq, one in enumerate(picks, 1) if seq not in removed}
    hits = index.nearest(Wanted(POOL[pick], limit, min_score, exact))
    assert [hit.seq for hit in hits] == brute_force(rows, POOL[pick], limit, min_score)
    assert len(index) == len(rows)
    for hit in hits:
        assert hit.score == pytest.approx(cosine(rows[hit.seq], POOL[pick]), abs=1e-12)


@given(st.integers(0, len(POOL) - 2))
def test_a_vector_is_found_by_itself_with_a_score_of_one(pick):
    """milvus-io/milvus#33480"""
    index = VectorIndex(DIMENSIONS)
    index.append([1], POOL[pick : pick + 1])
    ((seq, score),) = index.nearest(Wanted(POOL[pick], 1, 1.0, exact=False))
    assert (seq, score) == (1, pytest.approx(1.0, abs=1e-12))
    assert score <= 1.0


def test_a_score_that_equals_the_threshold_is_found():
    """Ganesh-403/semantic-plagiarism-detector#2992"""
    stored = unit([[0.6, 0.8], [0.59, math.sqrt(1 - 0.59**2)]])
    hits = best(np.array([1, 2]), stored, np.array([1, 0], np.float32), None, 0.6)
    assert [hit.seq for hit in hits] == [1]
    assert hits[0].score == pytest.approx(0.6, abs=1e-6)


def test_equal_vectors_have_equal_scores_wherever_they_lie():
    """yoanbernabeu/grepai#303"""
    stored = np.repeat(unit(GENERATOR.normal(size=(1, 333))), 1001, axis=0)
    query = unit(GENERATOR.normal(size=(1, 333)))[0]
    assert len(set(exact_scores(stored, query).tolist())) == 1
    hits = best(np.arange(1001), stored, query, 3, -1.0)
    assert [hit.seq for hit in hits] == [1000, 999, 998]


@pytest.mark.parametrize("value", [1.0, 1e-38, 1e-45])
def test_no_score_is_ever_nan_or_beyond_one(value):
    stored = np.array([[value, 0], [-value, 0], [0, 0], [value, value]], np.float32)
    scores = exact_scores(stored, np.array([1, 0], np.float32))
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() <= 1
    assert scores[:3].tolist() == [1.0, -1.0, 0.0]


def test_a_zero_query_finds_nothing():
    """nmslib/nmslib#321"""
    index = VectorIndex(DIMENSIONS)
    index.append(range(3), POOL[:3])
    assert index.nearest(Wanted(np.zeros(DIMENSIONS, np.float32), 3, -1.0, exact=False)) == []


def test_an_empty_index_finds_nothing():
    assert VectorIndex(DIMENSIONS).nearest(Wanted(POOL[0], 3, -1.0, exact=False)) == []


def test_opposite_vectors_are_found_only_down_to_minus_one():
    index = VectorIndex(2)
    index.append([1, 2], np.array([[-1, 0], [0, 1]], np.float32))
    query = np.array([1, 0], np.float32)
    assert index.nearest(Wanted(query, None, -1.0, exact=False)) == [(2, 0.0), (1, -1.0)]
    assert index.nearest(Wanted(query, None, -0.9, exact=False)) == [(2, 0.0)]


class TestTwoStages:
    """The search of large keys, at a size that a test can afford."""

    ROWS, WIDTH = 3000, 256

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(vectors_module, "TWO_STAGE_FLOATS", 1000 * self.WIDTH)

    @pytest.fixture
    def stored(self):
        """Groups of ten vectors that are close to each other and far from all others."""
        generator = np.random.default_rng(7)
        centres = np.repeat(generator.normal(size=(self.ROWS // 10, self.WIDTH)), 10, axis=0)
        return unit(centres + 0.4 * generator.normal(size=centres.shape))

    def expected(self, seqs, stored, query, limit):
        scores = stored.astype(np.float64) @ query.astype(np.float64)
        return seqs[np.argsort(-scores, kind="stable")[:limit]].tolist()

    @pytest.mark.parametrize("limit", [1, 10])
    def test_the_best_are_found_and_scored_exactly(self, stored, limit):
        index = VectorIndex(self.WIDTH)
        index.append(range(self.ROWS), stored)
        for query in stored[::150]:
            hits = index.nearest(Wanted(query, limit, -1.0, exact=False))
            assert [hit.seq for hit in hits] == self.expected(np.arange(self.ROWS), stored, query, limit)
            for hit in hits:
                assert hit.score == pytest.approx(cosine(stored[hit.seq], query), abs=1e-12)

    def test_removed_rows_take_no_place_among_the_results(self, stored):
        """tteon/seocho#122"""
        index = VectorIndex(self.WIDTH)
        index.append(range(self.ROWS), stored)
        index.prepare()
        group = self.expected(np.arange(self.ROWS), stored, stored[0], 10)
        index.remove(sorted(group[:5]))
        hits = index.nearest(Wanted(stored[0], 5, -1.0, exact=False))
        assert [hit.seq for hit in hits] == group[5:]

    def test_added_and_replaced_rows_are_found_after_packing_too(self, stored):
        index = VectorIndex(self.WIDTH)
        index.append(range(2000), stored[:2000])
        index.prepare()
        index.append(range(2000, self.ROWS), stored[2000:])
        index.remove(range(900))
        index.append(range(5), stored[:5])
        living = np.array([*range(900, self.ROWS), *range(5)])
        for query in (stored[2], stored[2500], stored[950]):
            hits = index.nearest(Wanted(query, 5, -1.0, exact=False))
            assert [hit.seq for hit in hits] == self.expected(living, stored[living], query, 5)

    def test_vectors_that_are_not_kept_are_fetched_for_the_candidates(self, stored):
        index = VectorIndex(self.WIDTH, keeps_vectors=False)
        index.append(range(self.ROWS), stored)
        index.remove([1])
        fetched = []

        def fetch(seqs):
            fetched.append(len(seqs))
            return np.asarray(seqs), stored[seqs]

        hits = index.nearest(Wanted(stored[1], 9, -1.0, exact=False), fetch)
        living = np.delete(np.arange(self.ROWS), 1)
        assert [hit.seq for hit in hits] == self.expected(living, stored[living], stored[1], 9)
        assert fetched[0] < self.ROWS / 4
        assert index.nbytes < stored.nbytes / 4

    def test_only_the_full_product_answers_exact_and_unlimited_searches(self, stored):
        index = VectorIndex(self.WIDTH, keeps_vectors=False)
        index.append(range(self.ROWS), stored)
        assert index.can_answer(Wanted(stored[0], 10, 0.2, exact=False)) is True
        assert index.can_answer(Wanted(stored[0], 10, 0.2, exact=True)) is False
        assert index.can_answer(Wanted(stored[0], None, 0.2, exact=False)) is False

    def test_sparse_vectors_without_negative_values_are_found_too(self):
        generator = np.random.default_rng(3)
        groups = np.repeat(generator.random((self.ROWS // 10, self.WIDTH)) < 0.04, 10, axis=0)
        stored = unit(groups | (generator.random(groups.shape) < 0.01))
        index = VectorIndex(self.WIDTH)
        index.append(range(self.ROWS), stored)
        for query in stored[5::150]:
            found = index.nearest(Wanted(query, 10, 0.4, exact=False))
            assert found == index.nearest(Wanted(query, 10, 0.4, exact=True))
