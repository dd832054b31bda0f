import json

import apsw
import pytest

from tests.cli.conftest import KEY, texts


def test_add_creates_the_database_and_prints_the_id_of_the_item(run, memory, folder):
    result = run("add", "Sam is vegetarian")
    (item,) = memory().list(KEY)
    assert (result.exit_code, result.stdout) == (0, f"added: {item.id}\n")
    assert item.text == "Sam is vegetarian"
    assert (folder / "vectormem.db").stat().st_mode & 0o777 == 0o600


def test_add_as_json_is_the_item_with_its_key(run_json, memory):
    document = run_json("add", "Sam is vegetarian", "--key", "facts#user:sam", "--metadata", '{"topic": "food"}')
    (item,) = memory().list("facts#user:sam")
    assert document == {
        "key": "facts#user:sam",
        "added": True,
        "id": item.id,
        "text": "Sam is vegetarian",
        "created_at": item.created_at.isoformat().replace("+00:00", "Z"),
        "metadata": {"topic": "food"},
    }


def test_adding_a_stored_text_again_says_so_and_keeps_the_item(run, run_json):
    first = run_json("add", "tea")
    again = run_json("add", "tea", "--metadata", '{"a": 1}')
    assert again == {**first, "added": False}
    assert run("add", "tea").stdout == f"already there: {first['id']}\n"


def test_add_reads_a_text_from_standard_input(run_json):
    assert run_json("add", "-", input="two\nlines\n")["text"] == "two\nlines"


def test_a_text_that_starts_with_a_dash_follows_two_dashes(run, memory):
    assert run("add", "--", "-5 degrees").exit_code == 0
    assert texts(memory().list(KEY)) == ["-5 degrees"]


def test_add_drops_nothing_unless_max_items_says_so(run, memory):
    for number in range(5):
        run("add", f"fact {number}")
    assert memory().count(KEY) == 5
    run("add", "fact 5", "--max-items", 2)
    assert texts(memory().list(KEY)) == ["fact 5", "fact 4"]


@pytest.mark.parametrize("text", ["", "  \n", "a\0b"])
def test_a_text_that_cannot_be_stored_is_an_error(run, text):
    result = run("add", text)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: the text of an item ")


def test_an_error_is_a_json_document_too(run):
    result = run("add", " ", "--json")
    message = "the text of an item must not be empty or blank"
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"error": {"code": "MEMORY_INVALID", "message": message}}
    assert result.stderr == f"error: {message}\n"


@pytest.mark.parametrize("metadata", ["[1]", "{", "3", "NaN", '{"a": NaN}'])
def test_metadata_that_is_no_json_object_is_a_usage_error(run, folder, metadata):
    assert run("add", "tea", "--metadata", metadata).exit_code == 2
    assert not (folder / "vectormem.db").exists()


def test_an_empty_key_is_an_error_and_never_the_default_key(run):
    result = run("add", "tea", "--key", "")
    assert result.exit_code == 1
    assert "the scope key must be a non-empty string" in result.stderr


@pytest.mark.parametrize("spec", ["nope", "hash:", "hash:0", "hash:x", "hash:-1", "hash:" + "9" * 5000, ""])
def test_an_unknown_embedder_is_a_usage_error_that_lists_what_there_is(run, spec):
    result = run("list", "--embedder", spec)
    assert result.exit_code == 2
    assert "DIMENSIONS" in result.stderr


def test_a_database_in_memory_is_a_usage_error(run):
    assert run("add", "tea", "--db", ":memory:").exit_code == 2


def test_list_shows_time_id_and_text_newest_first_one_item_a_line(run, memory):
    for text in ("one", "two", "three"):
        run("add", text)
    lines = [
        f"{item.created_at.replace(microsecond=0).isoformat().replace('+00:00', 'Z')}\t{item.id}\t{item.text}\n"
        for item in memory().list(KEY)
    ]
    assert run("list").stdout == "".join(lines)
    assert run("list", "--limit", 2).stdout == "".join(lines[:2])


def test_list_as_json_holds_the_items_newest_first(run, run_json):
    items = [{name: run_json("add", text)[name] for name in ITEM} for text in ("one", "two", "three")]
    assert run_json("list") == {"key": KEY, "items": items[::-1]}
    assert run_json("list", "--limit", 1) == {"key": KEY, "items": items[:1:-1]}
    assert run_json("list", "--key", "memory#other") == {"key": "memory#other", "items": []}


def test_search_ranks_by_meaning_and_gives_scores(run, run_json, memory):
    wanted = run_json("add", "Sam is vegetarian", "--metadata", '{"topic": "food"}')
    run("add", "The office is in Oslo")
    document = run_json("search", "vegetarian food")
    (item,) = document.pop("items")
    assert document == {"key": KEY, "query": "vegetarian food", "skipped": 0}
    assert item["score"] == pytest.approx(0.5)
    assert item.pop("score") == memory().list(KEY, query="vegetarian food")[0].score
    assert item == {name: wanted[name] for name in ITEM}
    time, item_id, text = run("list").stdout.splitlines()[1].split("\t")
    assert run("search", "vegetarian food").stdout == f"0.500\t{time}\t{item_id}\t{text}\n"


def test_search_leaves_out_what_is_below_the_score_and_beyond_the_limit(run, run_json):
    for text in ("tea", "tea leaf", "coffee"):
        run("add", text)
    assert texts(run_json("search", "tea")["items"]) == ["tea", "tea leaf"]
    assert texts(run_json("search", "tea", "--limit", 1)["items"]) == ["tea"]
    assert texts(run_json("search", "tea", "--min-score", 0.8)["items"]) == ["tea"]
    assert texts(run_json("search", "tea", "--min-score", 0)["items"]) == ["tea", "tea leaf", "coffee"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--limit", 0),
        ("list", "--limit", -1),
        ("list", "--limit", "x"),
        ("search", "tea", "--limit", 0),
        ("search", "tea", "--min-score", 2),
        ("search", " "),
        ("search",),
        ("add",),
        ("add", "a", "b"),
        ("add", "a", "--max-items", 0),
        ("list", "--nope"),
        ("nope",),
    ],
)
def test_wrong_usage_ends_with_status_2_and_prints_no_result(run, arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


def test_search_says_how_to_reach_items_of_another_embedder(run, run_json):
    run("add", "tea", "--embedder", "hash:64")
    run("add", "green tea", "--embedder", "hash:128")
    run("add", "black tea")
    result = run("search", "tea")
    assert [line.split("\t")[3] for line in result.stdout.splitlines()] == ["black tea"]
    assert result.stderr == (
        "note: 2 of 3 items were not searched: 1 embedded by hash:128 (128 d), 1 embedded by hash:64 (64 d); "
        "`vectormem reindex --db vectormem.db --key 'memory#global' --embedder hash` makes them searchable\n"
    )
    document = run_json("search", "tea")
    assert (texts(document["items"]), document["skipped"]) == (["black tea"], 2)


def test_search_says_how_to_reach_items_without_a_vector(run, memory):
    memory(embedder=False).add(KEY, "tea")
    result = run("search", "tea")
    assert result.stdout == ""
    assert "note: 1 of 1 items were not searched: 1 without a vector; `vectormem reindex " in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("search", "tea"),
        ("forget", "some-id"),
        ("forget", "--all"),
        ("forget", "--scope", "global"),
        ("keys",),
        ("stats",),
        ("reindex",),
        ("export",),
        ("export", "--all-keys"),
        ("doctor",),
    ],
)
def test_commands_that_read_refuse_a_missing_database_and_create_none(run, folder, arguments):
    result = run(*arguments, "--db", "missing.db")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: there is no database missing.db")
    assert list(folder.iterdir()) == []


def test_a_file_that_is_no_database_is_an_error_that_leaves_it_as_it_is(run, folder):
    (folder / "vectormem.db").write_text("dear diary\n" * 1000)
    result = run("list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is not a SQLite database" in result.stderr
    assert (folder / "vectormem.db").read_text() == "dear diary\n" * 1000


@pytest.mark.parametrize("arguments", [("add", "tea"), ("list",), ("search", "tea"), ("keys",), ("import", "x.txt")])
def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(run, folder, arguments):
    (folder / "x.txt").write_text("tea")
    run("add", "tea")
    connection = apsw.Connection("vectormem.db")
    connection.execute("PRAGMA user_version=999")
    connection.close()
    before = (folder / "vectormem.db").read_bytes()
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "upgrade vectormem" in result.stderr
    assert (folder / "vectormem.db").read_bytes() == before


def test_a_folder_is_no_database(run, folder):
    result = run("list", "--db", folder)
    assert (result.exit_code, result.stderr) == (1, f"error: {folder} is a folder, not a database file\n")


def test_the_environment_names_the_database(run, folder, monkeypatch):
    monkeypatch.setenv("VECTORMEM_DB", str(folder / "other.db"))
    run("add", "tea")
    assert [path.name for path in folder.glob("*.db")] == ["other.db"]


ITEM = ("id", "text", "created_at", "metadata")
