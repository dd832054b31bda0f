"""Imports that are killed: whole chunks are there, and importing again brings the rest, once and in order."""

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

from embedders import HashEmbedder
from tests.proof.checks import check_files
from vectormem.cli.importer import import_file
from vectormem.cli.opening import opened_store, vector_memory
from vectormem.cli.place import FilePlace

KEY = "notes#global"
CHUNK = 1000
LINES = 2500


def run(folder, *, kills, seed=0):
    """Kill an import at random moments so many times; return the figures."""
    chance, counts, started = random.Random(seed), Counter(), time.monotonic()
    source = Path(folder) / "items.jsonl"
    lines = [{"key": KEY, "id": f"i{number}", "text": f"tea number {number}"} for number in range(LINES)]
    source.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    longest = _duration(folder, source)
    for number in range(kills):
        home = Path(folder) / str(number)
        home.mkdir()
        _kill_after(chance.random() * longest, home, source)
        kept = _check(home)
        counts[f"killed_with_{kept}_stored"] += 1
        imported = _import(home, source)
        assert imported == LINES - kept
        assert _check(home) == LINES
    return {"kills": kills, **dict(sorted(counts.items())), "lost": 0, "seconds": round(time.monotonic() - started, 1)}


def _kill_after(seconds, home, source):
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sending, b".")
        _import(home, source)
        os._exit(0)
    os.read(receiving, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(receiving)
    os.close(sending)


def _import(home, source):
    with opened_store(FilePlace(home / "memory.db"), create=True) as store:
        memory = vector_memory(store, HashEmbedder(32))
        return import_file(memory, None, str(source), None, None, lambda done: None).imported


def _check(home):
    """Return how many items are stored: the first ones of the file, in their order."""
    check_files("vectors", home)
    with opened_store(FilePlace(home / "memory.db"), create=True) as store:
        ids = [item.id for item in vector_memory(store, HashEmbedder(32)).list(KEY)][::-1]
    assert ids == [f"i{number}" for number in range(len(ids))]
    assert len(ids) % CHUNK == 0 or len(ids) == LINES
    return len(ids)


def _duration(folder, source):
    started = time.monotonic()
    home = Path(folder) / "whole"
    home.mkdir()
    assert _import(home, source) == LINES
    return time.monotonic() - started
