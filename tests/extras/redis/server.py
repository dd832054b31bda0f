"""A real Redis or Valkey server in a folder of its own, reached through a Unix socket."""

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PROGRAM = shutil.which("valkey-server") or shutil.which("redis-server")


class Server:
    """Starts, stops and freezes a server; what it holds outlives a stop."""

    def __init__(self):
        if PROGRAM is None:
            pytest.skip("neither redis-server nor valkey-server is installed")
        self.folder = Path(tempfile.mkdtemp(prefix="kv-"))  # short, since a socket's path may not be long
        self.socket = self.folder / "s"
        self.url = f"unix://{self.socket}"
        self.process = None

    def start(self):
        self._run("--port", 0, "--appendonly", "yes")

    def stop(self):
        self.thaw()
        self.process.terminate()
        self._wait()

    def kill(self):
        """End it at once, frozen or not."""
        self.process.kill()
        self._wait()

    def freeze(self):
        """Let it hang: connections are there, answers are not."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process is not None:
            self.stop()
        shutil.rmtree(self.folder)

    def command(self, *words):
        """Send one command past vectormem and redis-py; return the first line of the answer."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self.socket))
            parts = (f"${len(word.encode())}\r\n{word}\r\n" for word in words)
            connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
            return connection.makefile("rb").readline().decode().strip()

    def _run(self, *options):
        where = ("--unixsocket", self.socket, "--dir", self.folder, "--save", "")
        with (self.folder / "log").open("ab") as log:
            command = [PROGRAM, *map(str, (*where, *options))]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait_until(self._answers)

    def _wait_until(self, condition):
        for _ in range(3000):
            if condition():
                return
            time.sleep(0.01)
        raise AssertionError((self.folder / "log").read_text())

    def _wait(self):
        self.process.wait(60)
        self.process = None

    def _answers(self):
        try:
            return self.command("PING") == "+PONG"
        except OSError:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            return False


class ClusterNode(Server):
    """A cluster of one node, reached through a port."""

    def start(self):
        self.port = _free_port()
        self._run("--port", self.port, "--bind", "127.0.0.1", "--cluster-enabled", "yes")
        assert self.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383") == "+OK"
        self._wait_until(lambda: self.command("GET", "x") == "$-1")


def _free_port():
    """Return a free port; that of the cluster's own talk, 10,000 higher, is hoped to be free too."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port < 55_000:
            return port
