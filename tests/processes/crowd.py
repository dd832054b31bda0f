"""Several worker processes at once."""

import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


def start_worker(kind, folder, name, count):
    """Start a worker; it waits for `release` before its first add."""
    worker = subprocess.Popen(
        [sys.executable, str(WORKER), kind, str(folder), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout.readline() == "ready\n", worker.communicate()[1]
    return worker


def release(worker):
    worker.stdin.write("\n")
    worker.stdin.flush()


def run_crowd(kind, folder, names, count):
    """Let one worker for each name add `count` texts at the same time; return what they wrote to stderr."""
    workers = [start_worker(kind, folder, name, count) for name in names]
    for worker in workers:
        release(worker)
    return [error for worker in workers if (error := worker.communicate(timeout=600)[1])]
