"""The short form of `python -m tests.proof disk`."""

import os

import pytest

if os.name == "nt":
    pytest.skip("limits and preloaded libraries are those of POSIX systems", allow_module_level=True)

from tests.proof import disk
from tests.proof.kinds import KINDS


@pytest.mark.parametrize(("kind", "step"), [("file", 97), ("sqlite", 4096), ("vectors", 4096)])
def test_a_disk_that_is_full_after_any_byte_keeps_everything_and_works_again_with_room(kind, step, tmp_path):
    """openhab/openhab-core#2989, gsamokovarov/jump#9"""
    figures = disk.fill(tmp_path, kind=kind, step=step)
    assert (figures["stored"], figures["refused"]) == (1, (figures["bytes_of_the_write"] - step) // step)
    assert figures["refused"] > 5


@pytest.mark.parametrize("kind", KINDS)
def test_any_call_to_a_disk_may_fail(kind, tmp_path):
    """openhab/openhab-core#2989, dgahagan/shelf#24, tox-dev/filelock#575"""
    figures = disk.run(tmp_path, kinds=[kind], acts=6, every=7)
    if figures is None:
        pytest.skip("there is no C compiler here")
    for mode in disk.MODES:
        assert figures[kind][mode]["calls_that_failed"] > 3
