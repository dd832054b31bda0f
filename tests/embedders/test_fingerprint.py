"""What a model's weights and settings are called."""

import numpy as np

from embedders.fingerprint import array_digest, fingerprint

ONE = np.arange(6, dtype=np.float32)
TWO = np.ones((2, 3), np.float32)


def test_the_order_of_the_tensors_does_not_count():
    assert array_digest(ONE, TWO) == array_digest(TWO, ONE)


def test_memory_layout_does_not_count():
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert array_digest(np.asfortranarray(table)) == array_digest(table)


def test_one_value_type_or_shape_makes_another_digest():
    changed = ONE.copy()
    changed[3] += 1e-6
    others = [ONE, changed, ONE.reshape(2, 3), ONE.astype(np.float64), ONE.view(np.int32), np.tile(ONE, 2)]
    assert len({array_digest(array) for array in others}) == len(others)


def test_a_fingerprint_changes_with_each_part_and_with_its_name():
    base = fingerprint(weights="a", prompts={"query": "q: "})
    assert base == fingerprint(prompts={"query": "q: "}, weights="a")
    others = {fingerprint(weights="b", prompts={"query": "q: "}), fingerprint(weights="a", prompts={"query": "q:"})}
    others.add(fingerprint(weight="a", prompts={"query": "q: "}))
    assert len(others | {base}) == 4
    assert len(base) == 16
