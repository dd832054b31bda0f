"""The short forms of `python -m tests.proof load`, `reader` and `soak`."""

import pytest

from tests.proof import load, soak
from tests.proof.kinds import KINDS, open_memory
from vectormem import InMemoryMemory, InMemoryVectorMemory
from vectormem.testing import HashEmbedder


@pytest.mark.parametrize("kind", KINDS)
def test_processes_doing_mixed_work_on_one_place_lose_nothing(kind, tmp_path):
    """modelcontextprotocol/servers#1819, #2577, mem0ai/mem0#7196"""
    figures = load.processes(tmp_path, kind=kind, count=3, operations=40)
    assert figures["operations"] == 120


@pytest.fixture(params=["memory", "memory-vectors", *KINDS])
def memory(request, tmp_path):
    if request.param == "memory":
        return InMemoryMemory(max_items=None)
    if request.param == "memory-vectors":
        return InMemoryVectorMemory(embedder=HashEmbedder(32), max_items=None)
    return open_memory(request.param, tmp_path)


def test_sixty_four_threads_lose_nothing(memory):
    """fsspec/filesystem_spec#893, coleifer/peewee#1187"""
    assert load.threads(memory, count=64, operations=3)["operations"] == 192


def test_hundreds_of_coroutines_lose_nothing(memory):
    """modelcontextprotocol/servers#1819"""
    assert load.coroutines(memory, count=300, operations=1)["operations"] == 300


def test_a_reader_that_stays_half_way_does_not_let_the_log_grow_for_good(tmp_path):
    """thedotmack/claude-mem#1836, DeusData/codebase-memory-mcp#1083"""
    figures = load.with_a_reader(tmp_path, kind="vectors", writes=700, pause=50)
    assert figures["largest_wal_mb"] < 40
    assert figures["wal_at_the_end_mb"] <= 16


def test_mixed_work_leaves_no_descriptor_and_no_file_behind(tmp_path):
    """DeusData/codebase-memory-mcp#1083"""
    figures = soak.run(tmp_path, minutes=60, every=0, rounds=8)
    assert figures["rounds"] == 8
    assert figures["grown"]["descriptors"] <= 4
    assert figures["grown"]["threads"] <= 4
