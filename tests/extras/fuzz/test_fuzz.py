"""A short run of the fuzzer over each parser; `python -m tests.extras.fuzz` makes the long one."""

import pytest

from tests.extras.fuzz.runs import TARGET_NAMES, fuzz


def test_every_target_is_named():
    from tests.extras.fuzz.targets import TARGETS

    assert tuple(TARGETS) == TARGET_NAMES


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_no_input_breaks_a_parser(target):
    assert fuzz(target, runs=5_000)["executions"] >= 5_000
