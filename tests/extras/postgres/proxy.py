"""A way to a server through this process, which tests cut, block and open again."""

import socket
import threading
from contextlib import suppress

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Proxy:
    """Listens on a port of this machine and passes everything on to the server of a DSN."""

    def __init__(self, dsn):
        self._options = conninfo_to_dict(dsn)
        self._pairs = []
        self._flowing = threading.Event()
        self._flowing.set()
        self._watched = None
        self.seen = threading.Event()
        self._listener = None
        self.port = 0
        self.open()

    @property
    def dsn(self):
        given = {name: value for name, value in self._options.items() if name not in ("host", "hostaddr", "port")}
        return make_conninfo(**given, host="127.0.0.1", port=self.port, password="s3cret-Word", sslmode="disable")

    def open(self):
        """Accept connections, on the same port as before."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self):
        """Break off the connections that there are."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Cut, and refuse new connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._flowing.set()
        self.cut()

    def block(self):
        """Pass on nothing more, without a word."""
        self._flowing.clear()

    def unblock(self):
        self._flowing.set()

    def cut_at(self, words):
        """Cut when a client sends these words, before the server gets them."""
        self.seen.clear()
        self._watched = words

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _accept(self, listener):
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = self._connect()
                self._pairs.append((client, server))
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(source, target, client), daemon=True).start()

    def _connect(self):
        host, port = self._options.get("host", "127.0.0.1"), int(self._options.get("port", 5432))
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{host}/.s.PGSQL.{port}")
        return connection

    def _pass(self, source, target, client):
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                if source is client and self._watched and self._watched in data:
                    self._watched = None
                    self.seen.set()
                    self.cut()
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
