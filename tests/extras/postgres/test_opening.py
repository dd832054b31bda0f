"""Opening a database: its tables, their versions, roles with few rights, and what is wrong said clearly."""

import subprocess
import sys
import threading
import traceback

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from embedders import HashEmbedder
from vectormem import (
    MemoryInvalidError,
    PostgresMemory,
    PostgresStore,
    PostgresVectorMemory,
    StorageFailedError,
    blocking,
)
from vectormem.stores.postgres.schema import MIGRATIONS


@pytest.fixture
def role(admin, schema):
    """Make roles that can connect and nothing more, and drop them with all that they may."""
    names = []

    def make(*statements):
        name = f"{schema}_role{len(names)}"
        names.append(name)
        for statement in (f"CREATE ROLE {name} LOGIN PASSWORD 's3cret-Word'", *statements):
            admin.execute(statement.format(role=name, schema=schema))
        return name

    yield make
    for name in names:
        admin.execute(f"DROP OWNED BY {name} CASCADE")
        admin.execute(f"DROP ROLE {name}")


@pytest.fixture
def database(dsn, admin, schema):
    """Make databases of their own."""
    names = []

    def make(options=""):
        name = f"{schema}_{len(names)}"
        names.append(name)
        admin.execute(f"CREATE DATABASE {name} {options}")
        return make_conninfo(dsn, dbname=name)

    yield make
    for name in names:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_many_servers_that_start_at_once_build_the_tables_once(opened):
    stores, errors = [], []

    def work():
        try:
            stores.append(opened())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    blocking(PostgresMemory(stores[0])).add("k", "likes tea")
    assert [item.text for item in blocking(PostgresMemory(stores[-1])).list("k")] == ["likes tea"]


def test_a_newer_schema_is_refused_before_any_write(store, opened, admin):
    table = sql.Identifier(store.schema, "memory_schema")
    admin.execute(sql.SQL("UPDATE {} SET version=99").format(table))
    with pytest.raises(StorageFailedError, match=f"version 99, newer than {len(MIGRATIONS)}: upgrade"):
        opened()
    assert admin.execute(sql.SQL("SELECT version FROM {}").format(table)).fetchall() == [(99,)]


def test_an_older_schema_gains_what_is_new_and_keeps_its_items(opened, monkeypatch):
    from vectormem.stores.postgres import schema

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", MIGRATIONS[:2])
        blocking(PostgresMemory(opened())).add("k", "likes tea")
    store = opened()
    assert [item.text for item in blocking(PostgresMemory(store)).list("k")] == ["likes tea"]
    assert store.read(lambda db: db.execute("SELECT count(*) FROM chat_words").fetchone()) == (0,)


def test_a_failing_step_leaves_nothing_behind(opened, admin, schema, monkeypatch):
    from vectormem.stores.postgres import schema as module

    def fails(connection):
        connection.execute("CREATE TABLE half (id int)")
        connection.execute("SELECT 1/0")

    with monkeypatch.context() as patched:
        patched.setattr(module, "MIGRATIONS", (*MIGRATIONS, fails))
        with pytest.raises(StorageFailedError):
            opened()
    assert admin.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,)
    opened()


def test_two_schemas_of_one_database_are_apart(opened, schema, admin):
    one, other = (blocking(PostgresMemory(opened(schema=name))) for name in (schema, f'{schema} "b"'))
    one.add("k", "here")
    other.add("k", "there")
    assert [[item.text for item in memory.list("k")] for memory in (one, other)] == [["here"], ["there"]]
    admin.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(f'{schema} "b"')))


def test_a_database_without_pgvector_gets_it_from_a_role_that_may(database):
    with PostgresStore(database()) as store:
        memory = blocking(PostgresVectorMemory(store, embedder=HashEmbedder()))
        memory.add("k", "likes tea")
        assert memory.list("k", query="tea")[0].text == "likes tea"


def test_a_role_that_may_not_create_the_extension_is_told_what_to_do(database, role, admin):
    address = database()
    name = role()
    with psycopg.connect(address, autocommit=True) as there:
        there.execute(f"GRANT CREATE ON DATABASE {there.info.dbname} TO {name}")
        with pytest.raises(StorageFailedError, match="CREATE EXTENSION vector"):
            PostgresStore(make_conninfo(address, user=name, password="s3cret-Word"))
        there.execute("CREATE EXTENSION vector")
        PostgresStore(make_conninfo(address, user=name, password="s3cret-Word")).close()
        there.execute(f"DROP OWNED BY {name} CASCADE")


def test_a_role_without_rights_at_all_is_told_so_without_its_password(opened, dsn, role):
    poor = make_conninfo(dsn, user=role(), password="s3cret-Word")
    with pytest.raises(StorageFailedError, match="does not allow this role") as caught:
        opened(dsn=poor)
    assert "s3cret-Word" not in "".join(traceback.format_exception(caught.value))


def test_a_role_that_may_only_use_the_tables_is_enough_for_an_open_database(opened, dsn, store, role):
    name = role(
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    )
    memory = blocking(PostgresVectorMemory(opened(dsn=make_conninfo(dsn, user=name)), embedder=HashEmbedder()))
    memory.add("k", "likes tea")
    memory.upsert("k", "likes milk", id=memory.list("k")[0].id)
    assert memory.list("k", query="milk")[0].text == "likes milk"
    assert memory.clear("k") == 1


def test_a_role_that_may_only_read_reads_and_is_refused_a_write(opened, dsn, store, role):
    blocking(PostgresMemory(store)).add("k", "likes tea")
    name = role("GRANT USAGE ON SCHEMA {schema} TO {role}", "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    memory = blocking(PostgresMemory(opened(dsn=make_conninfo(dsn, user=name))))
    assert [item.text for item in memory.list("k")] == ["likes tea"]
    with pytest.raises(StorageFailedError, match="does not allow this role"):
        memory.add("k", "likes milk")


def test_a_read_only_server_refuses_writes_and_says_so(opened, dsn, store):
    standby = opened(dsn=make_conninfo(dsn, options="-c default_transaction_read_only=on"))
    memory = blocking(PostgresMemory(standby))
    assert list(memory.list("k")) == []
    before = standby.read(lambda db: db.info.backend_pid)
    with pytest.raises(StorageFailedError, match="is read-only: name the primary"):
        memory.add("k", "likes tea")
    assert standby.read(lambda db: db.info.backend_pid) != before  # the name may lead to another server by now


def test_another_encoding_is_refused(database):
    with pytest.raises(StorageFailedError, match="has the encoding LATIN1, which cannot hold every text"):
        PostgresStore(database("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"))


def test_without_prepared_statements_everything_works_too(opened):
    memory = blocking(PostgresVectorMemory(opened(prepares=False, pool_size=1), embedder=HashEmbedder(16)))
    for number in range(12):
        memory.add("k", f"says {number}")
        assert memory.list("k", limit=1)[0].text == f"says {number}"
        assert len(memory.list("k", query="says")) == number + 1


def test_other_tables_of_our_names_in_the_schema_are_left_alone(opened, admin, schema):
    admin.execute(f"CREATE SCHEMA {schema}")
    admin.execute(f"CREATE TABLE {schema}.memory_items (mine int)")
    with pytest.raises(StorageFailedError, match="memory_items"):
        opened()
    assert admin.execute(f"SELECT mine FROM {schema}.memory_items").fetchall() == []


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        7,
        "memory.db",
        "postgresql://user:s3cret/Word@host/db",
        "postgresql://user:s3cret@Word@host/db",
        "postgresql://user:s3cret Word@host:54x/db",
        "host=h password='s3cret",
        "postgres//user:s3cretWord@host",
        "postgresql://user:s3cretWord@host/db?no_such_option=1",
    ],
)
def test_what_is_no_dsn_is_refused_without_being_shown(given):
    with pytest.raises(MemoryInvalidError, match="must be like postgresql://") as caught:
        PostgresStore(given)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))
    assert "Word" not in str(caught.value)


def test_the_store_shows_its_address_without_the_password(opened, dsn):
    store = opened(dsn=make_conninfo(dsn, password="s3cret-Word"))
    assert repr(store).startswith("PostgresStore('postgresql://")
    assert "s3cret-Word" not in repr(store) + repr(vars(store.indexes)) + repr(PostgresMemory(store))


@pytest.mark.parametrize(
    "options",
    [{"schema": ""}, {"schema": None}, {"schema": "x" * 64}, {"schema": "a\0b"}, {"pool_size": 0}]
    + [{name: value} for name in ("connect_seconds", "wait_seconds") for value in (0, -1, True, "1", float("nan"))],
)
def test_wrong_options_are_refused(dsn, options):
    with pytest.raises(MemoryInvalidError):
        PostgresStore(dsn, **options)


def test_wrong_stores_are_refused_and_not_shown():
    for wrong in (None, 7, b"postgresql://"):
        with pytest.raises(MemoryInvalidError):
            PostgresMemory(wrong)


def test_a_dsn_in_place_of_the_store_is_opened_and_closed(dsn):
    memory = blocking(PostgresMemory(dsn))
    memory.list("nobody")
    memory.close()
    with pytest.raises(StorageFailedError, match="closed"):
        memory.list("nobody")


def test_no_connection_is_left_open_and_no_thread_hinders_the_end(dsn, schema, store):
    program = (
        "import sys; from vectormem import PostgresMemory, PostgresStore, blocking\n"
        "blocking(PostgresMemory(PostgresStore(sys.argv[1], schema=sys.argv[2]))).add('k', 'likes tea')\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, dsn, schema], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert blocking(PostgresMemory(store)).count("k") == 1
