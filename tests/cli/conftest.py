"""The command line, called in this process, in another one, or in a terminal."""

import json
import os
import subprocess
import sys
import threading

import pytest
from typer.testing import CliRunner

from vectormem import SqliteMemory, SqliteVectorMemory, blocking
from vectormem.cli.app import app
from vectormem.testing import HashEmbedder

KEY = "memory#global"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Run each test in an empty folder, where `vectormem.db` is the default database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VECTORMEM_DB", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def run():
    """Call the command line with these arguments and return the result; a crash fails the test."""

    def call(*args, input=None):
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=input)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call


@pytest.fixture
def run_json(run):
    """Call the command line with --json and return the one document on standard output."""

    def call(*args, exit_code=0, input=None):
        result = run(*args, "--json", input=input)
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)

    return call


@pytest.fixture
def memory():
    """Open the default database as its items and vectors, without a cap."""
    opened = []

    def open_memory(path="vectormem.db", *, embedder=None, **options):
        kind = SqliteMemory if embedder is False else SqliteVectorMemory
        embedded = {} if embedder is False else {"embedder": embedder or HashEmbedder()}
        opened.append(blocking(kind(path, max_items=None, **embedded, **options)))
        return opened[-1]

    yield open_memory
    for one in opened:
        one.close()


def texts(items):
    return [item["text"] if isinstance(item, dict) else item.text for item in items]


def command(*args):
    return [sys.executable, "-m", "vectormem", *map(str, args)]


def in_process(*args, code=None, env=None):
    """Run `python -m vectormem`, or some code, in a process of its own."""
    call = [sys.executable, "-c", code] if code else command(*args)
    return subprocess.run(call, capture_output=True, timeout=60, env={**os.environ, **(env or {})}, check=False)


def in_terminal(*args, typed=b"", stdout=None):
    """Run the command line in a terminal of 100 columns; return its exit status and all that it showed there."""
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    terminal, side = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    env.pop("NO_COLOR", None)
    with subprocess.Popen(command(*args), stdin=side, stdout=stdout or side, stderr=side, env=env) as process:
        os.close(side)
        os.write(terminal, typed)
        guard = threading.Timer(60, process.kill)
        guard.start()
        shown = b"".join(iter(lambda: _read(terminal), b""))
        guard.cancel()
    os.close(terminal)
    return process.returncode, shown.decode()


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""
