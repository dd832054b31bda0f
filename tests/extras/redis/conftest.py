import warnings

import pytest

from tests.extras.redis.server import Server


def pytest_configure(config):
    """A test's event loop may end before its connections are closed, as those of careless programs do."""
    config.addinivalue_line("filterwarnings", "ignore:(unclosed|loop is closed):ResourceWarning")


def pytest_unconfigure(config):
    """The last of them are collected when the lines above hold no longer."""
    warnings.filterwarnings("ignore", "(unclosed|loop is closed)", ResourceWarning)


@pytest.fixture(scope="session")
def running():
    """One server for all tests that leave it running."""
    server = Server()
    server.start()
    yield server
    server.close()


@pytest.fixture
def server(running):
    """That server, empty."""
    running.command("FLUSHALL")
    return running


@pytest.fixture
def own_server():
    """A server that is not started yet, for a test that stops it."""
    server = Server()
    yield server
    server.close()
