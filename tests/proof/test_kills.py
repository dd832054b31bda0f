"""The short form of `python -m tests.proof kills`."""

import os

import pytest

from tests.proof import imports, kills
from tests.proof.kinds import KINDS

if not hasattr(os, "fork"):
    pytest.skip("this system cannot fork", allow_module_level=True)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_process_killed_in_any_change_leaves_all_it_acknowledged_and_nothing_half(kind, tmp_path):
    """tox-dev/filelock#476, agent0ai/agent-zero#1536, deepset-ai/haystack#3961, openhab/openhab-core#2989"""
    figures = kills.run(tmp_path, kills=12, kinds=[kind], seed=7)[kind]
    assert figures["kills"] == 12
    assert figures["acknowledged"] > 40


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_an_import_that_is_killed_leaves_whole_chunks_and_the_next_one_brings_the_rest(tmp_path):
    """pastas/pastastore#52, itlackey/akm#874"""
    assert imports.run(tmp_path, kills=3, seed=5)["kills"] == 3
