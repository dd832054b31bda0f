import sys
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import KEY, in_process
from vectormem import SqliteStore
from vectormem.stores.sqlite.schema import MIGRATIONS
from vectormem.testing import HashEmbedder

DATABASE = "vectormem.db"


@pytest.fixture
def sound(memory):
    """A closed database of three items with vectors, in two keys."""
    opened = memory()
    opened.add_many(KEY, ["one", "two"])
    opened.add("facts#user:sam", "three")
    opened.close()


def change(*statements):
    """Change the database behind the back of vectormem, as damage would."""
    connection = apsw.Connection(DATABASE)
    connection.execute("PRAGMA foreign_keys=OFF")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def everything_in(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in folder.iterdir()}


def findings(document):
    return [(finding["level"], finding["check"]) for finding in document["findings"]]


def test_a_sound_database_has_no_findings(run, run_json, sound):
    assert run_json("doctor") == {
        "path": DATABASE,
        "ok": True,
        "schema_version": len(MIGRATIONS),
        "current_schema_version": len(MIGRATIONS),
        "keys": 2,
        "items": 3,
        "embedders": [{"embedder": "hash:256", "dimensions": 256, "vectors": 3}],
        "without_vector": 0,
        "findings": [],
    }
    lines = run("doctor").stdout.splitlines()
    assert lines[1:] == ["2 keys, 3 items, 0 without a vector", "3 vectors by hash:256 (256 d)", "no problem found"]


def test_doctor_changes_nothing_and_leaves_no_file_behind(run, sound, folder):
    before = everything_in(folder)
    assert run("doctor").exit_code == 0
    assert everything_in(folder) == before


def test_doctor_sees_what_a_living_writer_has_not_moved_into_the_file_yet(run_json, memory):
    memory().add(KEY, "tea")
    assert Path(f"{DATABASE}-wal").exists()
    assert run_json("doctor")["items"] == 1


def test_a_path_with_marks_that_mean_something_in_a_uri_is_checked(run_json, memory, folder):
    memory("a?mode=rw#b%20c.db").add(KEY, "tea")
    assert run_json("doctor", "--db", "a?mode=rw#b%20c.db")["items"] == 1
    assert not (folder / "a").exists()


def test_one_key_can_be_looked_at(run_json, sound):
    document = run_json("doctor", "--key", KEY)
    assert (document["keys"], document["items"], document["embedders"][0]["vectors"]) == (1, 2, 2)


def test_a_file_that_is_no_database_is_a_problem(run_json, folder):
    (folder / DATABASE).write_text("dear diary\n" * 500)
    (folder / DATABASE).chmod(0o600)
    before = everything_in(folder)
    document = run_json("doctor", exit_code=1)
    assert (document["ok"], document["schema_version"]) == (False, None)
    assert findings(document) == [("problem", "sqlite")]
    assert everything_in(folder) == before


@pytest.mark.parametrize("statements", [(), ("CREATE TABLE other(x)",)])
def test_a_database_without_memory_tables_is_a_problem(run_json, folder, statements):
    (folder / DATABASE).touch(0o600)
    change(*statements)
    document = run_json("doctor", exit_code=1)
    assert findings(document) == [("problem", "schema")]
    assert "`vectormem add`" in document["findings"][0]["advice"]


def test_a_newer_schema_is_a_problem_that_asks_for_an_upgrade(run, run_json, sound):
    change("PRAGMA user_version=999")
    document = run_json("doctor", exit_code=1)
    assert document["schema_version"] == 999
    assert findings(document) == [("problem", "schema")]
    assert "to do: upgrade vectormem" in run("doctor").stdout


def test_an_older_schema_is_a_note(run_json, folder):
    (folder / DATABASE).touch(0o600)
    connection = apsw.Connection(DATABASE)
    MIGRATIONS[0](connection)
    connection.execute("PRAGMA user_version=1")
    connection.close()
    document = run_json("doctor")
    assert (document["ok"], document["schema_version"]) == (True, 1)
    assert findings(document) == [("note", "schema")]


def test_a_wrong_counter_is_a_problem_that_names_the_key(run_json, sound):
    change(f"UPDATE memory_keys SET items=9 WHERE key='{KEY}'")
    document = run_json("doctor", exit_code=1)
    assert ("problem", "counts") in findings(document)
    message = next(finding["message"] for finding in document["findings"] if finding["check"] == "counts")
    assert message == "key 'memory#global' counts 9 items up to number 2; there are 2, up to 2"


def test_vectors_and_items_without_their_parents_are_problems(run_json, sound):
    change("DELETE FROM memory_items WHERE text='three'", "DELETE FROM memory_embedders")
    document = run_json("doctor", exit_code=1)
    messages = [finding["message"] for finding in document["findings"] if finding["check"] == "orphans"]
    assert sorted(messages) == [
        "1 row of memory_vectors belongs to no row of memory_items",
        "3 rows of memory_vectors belong to no row of memory_embedders",
    ]


def test_a_vector_of_no_whole_number_of_values_is_a_problem(run_json, sound):
    change("UPDATE memory_vectors SET embedding=x'0102030405' WHERE seq=2")
    document = run_json("doctor", exit_code=1)
    assert ("problem", "vectors") in findings(document)


def test_damaged_pages_are_a_problem(run_json, memory, folder):
    opened = memory()
    opened.add_many(KEY, [f"fact {number}" for number in range(2000)])
    opened.close()
    content = bytearray((folder / DATABASE).read_bytes())
    content[len(content) // 2 : len(content) // 2 + 40_000] = b"\xa5" * 40_000
    (folder / DATABASE).write_bytes(content)
    document = run_json("doctor", exit_code=1)
    assert ("problem", "integrity") in findings(document)
    assert "export --all-keys" in document["findings"][0]["advice"]


@pytest.mark.skipif(sys.platform == "win32", reason="file modes are those of POSIX systems")
def test_a_file_that_others_may_read_is_a_problem(run, run_json, sound, folder):
    (folder / DATABASE).chmod(0o644)
    document = run_json("doctor", exit_code=1)
    assert findings(document) == [("problem", "mode")]
    assert document["findings"][0]["message"] == "other users may use vectormem.db: its mode is 0644, not 0600"
    assert document["items"] == 3
    assert "to do: chmod 600 vectormem.db\n" in run("doctor").stdout


def test_items_without_a_vector_are_a_note_with_the_command_that_embeds_them(run, run_json, memory):
    opened = memory(embedder=False)
    opened.add(KEY, "tea")
    opened.close()
    document = run_json("doctor", "--embedder", "hash:64")
    assert (document["ok"], document["without_vector"]) == (True, 1)
    assert findings(document) == [("note", "vectors")]
    reindex = "vectormem reindex --db vectormem.db --embedder hash:64"
    assert document["findings"][0]["advice"] == f"if they are to be found by meaning: {reindex}"
    run(*reindex.split()[1:])
    assert run_json("doctor")["findings"] == []


def test_vectors_of_two_embedders_in_one_key_are_a_note(run_json, memory):
    for dimensions in (32, 64):
        opened = memory(embedder=HashEmbedder(dimensions))
        opened.add(KEY, f"tea {dimensions}")
        opened.close()
    document = run_json("doctor")
    assert (document["ok"], findings(document)) == (True, [("note", "vectors")])
    assert [embedder["embedder"] for embedder in document["embedders"]] == ["hash:32", "hash:64"]


def test_a_locked_database_can_be_checked(sound):
    with SqliteStore(DATABASE) as store:
        result = store.write(lambda connection: in_process("doctor"))
    assert (result.returncode, result.stderr) == (0, b"")
