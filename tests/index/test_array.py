"""The block of vectors of one key, against a plain dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from vectormem.index.array import VectorArray

DIMENSIONS = 3


def vector(seq):
    return np.array([seq, -seq, 0.5], np.float32)


class ArrayMachine(RuleBasedStateMachine):
    """Appends and removes like a key that is written for a long time."""

    def __init__(self):
        super().__init__()
        self.array = VectorArray(DIMENSIONS)
        self.model = {}
        self.next_seq = 1

    @rule(count=st.integers(0, 40))
    def append(self, count):
        seqs = list(range(self.next_seq, self.next_seq + count))
        self.next_seq += count + 2
        self._append(seqs)

    @rule(data=st.data())
    def append_again_out_of_order(self, data):
        gone = sorted(set(range(1, self.next_seq)) - self.model.keys())
        self._append(data.draw(st.lists(st.sampled_from(gone), unique=True, max_size=5)) if gone else [])

    @rule(seqs=st.lists(st.integers(0, 120), unique=True, max_size=20))
    def remove(self, seqs):
        present = [seq for seq in seqs if self.model.pop(seq, None) is not None]
        assert self.array.remove(seqs) == len(present)

    @rule(data=st.data(), share=st.floats(0, 1))
    def remove_present_ones(self, data, share):
        present = sorted(self.model)
        seqs = data.draw(st.permutations(present))[: int(len(present) * share)]
        for seq in seqs:
            del self.model[seq]
        assert self.array.remove(seqs) == len(seqs)

    @rule(size=st.integers(0, 300))
    def reserve(self, size):
        self.array.reserve(size)

    @invariant()
    def holds_what_the_dictionary_holds(self):
        array = self.array
        assert len(array) == len(self.model)
        assert array.has_dead == (array.slots > len(array))
        living = dict(zip(array.seqs[array.alive].tolist(), array.matrix[array.alive].tolist(), strict=True))
        assert living == {seq: row.tolist() for seq, row in self.model.items()}
        assert not array.matrix[~array.alive].any()
        assert array.slots <= max(1, len(array)) / 0.75 + 1

    @invariant()
    def gives_each_vector_back(self):
        for seq in range(0, self.next_seq + 1, 7):
            found = self.array.get(seq)
            assert (found is None) == (seq not in self.model)
            assert found is None or found.tolist() == self.model[seq].tolist()

    def _append(self, seqs):
        self.array.append(seqs, np.array([vector(seq) for seq in seqs], np.float32).reshape(-1, DIMENSIONS))
        self.model |= {seq: vector(seq) for seq in seqs}


TestArray = ArrayMachine.TestCase


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(0, 60), unique=True))
def test_removing_absent_rows_removes_and_counts_no_others(present, removed):
    """facebookresearch/faiss#224"""
    array = VectorArray(DIMENSIONS)
    array.append(sorted(present), np.ones((len(present), DIMENSIONS), np.float32))
    assert array.remove(sorted(removed)) == len(set(present) & set(removed))
    assert len(array) == len(set(present) - set(removed))


def test_a_vector_that_was_given_out_is_a_copy():
    array = VectorArray(DIMENSIONS)
    array.append([1], vector(1)[None, :])
    array.get(1)[:] = 7
    assert array.get(1).tolist() == vector(1).tolist()


def test_packing_is_counted_so_that_positions_can_be_kept_between_two():
    array = VectorArray(DIMENSIONS)
    array.append(range(1, 9), np.ones((8, DIMENSIONS), np.float32))
    array.remove([1, 2])
    assert (array.packed, array.slots, len(array)) == (0, 8, 6)
    array.remove([3])
    assert (array.packed, array.slots, len(array)) == (1, 5, 5)
    assert array.seqs.tolist() == [4, 5, 6, 7, 8]


def test_without_vectors_only_sequence_numbers_are_held():
    array = VectorArray(DIMENSIONS, keeps_vectors=False)
    array.append([1, 2, 3], np.ones((3, DIMENSIONS), np.float32))
    array.remove([2])
    assert array.matrix.shape == (3, 0)
    assert array.seqs[array.alive].tolist() == [1, 3]
    assert len(array) == 2


@pytest.mark.parametrize("count", [1, 15, 16, 17, 1000])
def test_appending_one_at_a_time_is_the_same_as_appending_all(count):
    one_by_one, at_once = VectorArray(DIMENSIONS), VectorArray(DIMENSIONS)
    matrix = np.array([vector(seq) for seq in range(count)], np.float32)
    for seq in range(count):
        one_by_one.append([seq], matrix[seq : seq + 1])
    at_once.append(range(count), matrix)
    assert one_by_one.matrix.tolist() == at_once.matrix.tolist()
    assert one_by_one.seqs.tolist() == at_once.seqs.tolist() == list(range(count))
