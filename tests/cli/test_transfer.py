import json
import os
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import KEY, texts
from vectormem.testing import HashEmbedder

START = datetime(2026, 1, 31, 23, 59, 59, 123456, tzinfo=UTC)
METADATA = {"n": 2**53 + 1, "x": [1.5, None, True, {"é": "\u2028\x1b"}], "score": 3}


@pytest.fixture
def filled(memory):
    """Fill two keys, by a clock that also goes backwards and ids in no order; return both, newest first."""
    moments = iter([START, START - timedelta(days=400), START.replace(microsecond=0), START, START])
    ids = iter(["id-5", "id-3", "id-4", "id-1", "id-2"])
    source = memory("source.db", clock=lambda: next(moments), new_id=lambda: next(ids))
    source.add("facts#user:sam", "first\nof two lines \x1b[31m \u202e \N{GRINNING FACE} \u85cd", metadata=METADATA)
    source.add("facts#user:sam", "second, of an earlier time")
    source.add("facts#user:sam", "third", metadata={})
    source.add("notes#global", "third")
    source.add("notes#global", "fourth [bold]")
    return {key: source.list(key) for key in source.scope_keys()}


def test_what_is_exported_and_imported_is_equal_in_ids_times_order_and_metadata(run, run_json, memory, filled):
    assert run("export", "--all-keys", "--db", "source.db", "--output", "all.jsonl").exit_code == 0
    document = run_json("import", "all.jsonl", "--db", "copy.db")
    assert (document["read"], document["imported"], document["already_there"]) == (5, 5, 0)
    copy = memory("copy.db")
    assert {key: copy.list(key) for key in copy.scope_keys()} == filled
    assert texts(copy.list("facts#user:sam", query="third")) == ["third"]


def test_a_pipe_from_export_to_import_needs_no_format(run, memory, filled):
    exported = run("export", "--all-keys", "--db", "source.db").stdout
    assert run("import", "-", "--db", "copy.db", input=exported).exit_code == 0
    copy = memory("copy.db")
    assert {key: copy.list(key) for key in copy.scope_keys()} == filled


def test_a_second_import_doubles_nothing(run, run_json, memory, filled):
    run("export", "--all-keys", "--db", "source.db", "-o", "all.jsonl")
    run("import", "all.jsonl", "--db", "copy.db")
    document = run_json("import", "all.jsonl", "all.jsonl", "--db", "copy.db")
    assert (document["read"], document["imported"], document["already_there"]) == (10, 0, 10)
    assert memory("copy.db").list("facts#user:sam") == filled["facts#user:sam"]


def test_export_writes_one_json_object_a_line_oldest_first(run, filled):
    result = run("export", "--db", "source.db", "--key", "facts#user:sam")
    assert result.stdout.endswith("\n")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    newest_first = [
        {
            "key": "facts#user:sam",
            "id": item.id,
            "text": item.text,
            "created_at": item.created_at.isoformat().replace("+00:00", "Z"),
            "metadata": item.metadata,
        }
        for item in filled["facts#user:sam"]
    ]
    assert lines == newest_first[::-1]
    assert lines[0]["created_at"] == "2026-01-31T23:59:59.123456Z"
    assert list(lines[0]) == ["key", "id", "text", "created_at", "metadata"]


def test_export_as_json_is_one_document_of_the_same_items(run, run_json, filled):
    lines = run("export", "--db", "source.db", "--all-keys").stdout.splitlines()
    assert run_json("export", "--db", "source.db", "--all-keys") == {"items": [json.loads(line) for line in lines]}
    assert run_json("export", "--db", "source.db", "--key", "none#x") == {"items": []}


def test_an_exported_file_is_private_and_replaces_an_old_one_as_a_whole(run, run_json, filled, folder):
    (folder / "all.jsonl").write_text("an older copy")
    (folder / "all.jsonl").chmod(0o644)
    document = run_json("export", "--db", "source.db", "--all-keys", "--output", "all.jsonl")
    assert document == {"exported": 5, "path": "all.jsonl"}
    assert (folder / "all.jsonl").stat().st_mode & 0o777 == 0o600
    assert len((folder / "all.jsonl").read_text().splitlines()) == 5


def test_an_export_that_fails_keeps_the_old_file_and_leaves_no_other(run, filled, folder, monkeypatch):
    (folder / "all.jsonl").write_text("an older copy")

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    before = sorted(folder.iterdir())
    result = run("export", "--db", "source.db", "--all-keys", "--output", "all.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No space left on device" in result.stderr
    assert (folder / "all.jsonl").read_text() == "an older copy"
    assert sorted(folder.iterdir()) == before


def test_export_takes_one_key_or_all(run, filled):
    result = run("export", "--db", "source.db", "--all-keys", "--key", "facts#user:sam")
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_key_that_is_named_takes_all_items_whatever_their_lines_say(run, memory, filled):
    run("export", "--all-keys", "--db", "source.db", "-o", "all.jsonl")
    run("import", "all.jsonl", "--db", "copy.db", "--key", "one#key")
    copy = memory("copy.db")
    assert list(copy.scope_keys()) == ["one#key"]
    assert texts(copy.list("one#key")) == ["fourth [bold]", *texts(filled["facts#user:sam"])]


def test_a_line_needs_no_more_than_a_text(run, memory):
    assert run("import", "-", input='{"text": "one"}\n\n{"text": "two"}').exit_code == 0
    assert texts(memory().list(KEY)) == ["two", "one"]


def test_lines_of_several_keys_may_be_mixed(run, memory):
    lines = "".join(f'{{"key": "slot#{number % 3}", "text": "fact {number}"}}\n' for number in range(2500))
    run("import", "-", input=lines)
    for remainder in range(3):
        expected = [f"fact {number}" for number in range(2500) if number % 3 == remainder]
        assert texts(memory().list(f"slot#{remainder}")) == expected[::-1]


def bad_lines():
    good = '"id": "i1", "created_at": "2026-01-01T00:00:00Z"'
    yield "cut in half", '{"text": "tea', "column"
    yield "no object", "[1]", "object"
    yield "no text", "{" + good + "}", "'text'"
    yield "blank text", '{"text": "  "}', "must not be empty or blank"
    yield "NUL", '{"text": "a\\u0000b"}', "NUL"
    yield "lone surrogate", '{"text": "a\\ud83d"}', "escape"
    yield "text of another type", '{"text": 7}', "'text'"
    yield "id with a space", '{"text": "tea", "id": "a b"}', "item id"
    yield "empty id", '{"text": "tea", "id": ""}', "item id"
    yield "empty key", '{"text": "tea", "key": ""}', "scope key"
    yield "time without a zone", '{"text": "tea", "created_at": "2026-01-01T00:00:00"}', "'created_at'"
    yield "time that is none", '{"text": "tea", "created_at": "yesterday"}', "'created_at'"
    yield "time beyond every year", '{"text": "tea", "created_at": "0001-01-01T00:00:00+01:00"}', "years 1 to 9999"
    yield "time as a number", '{"text": "tea", "created_at": 1767225600}', "'created_at'"
    yield "metadata that is no object", '{"text": "tea", "metadata": [1]}', "'metadata'"
    yield "NaN in metadata", '{"text": "tea", "metadata": {"x": NaN}}', "JSON"
    yield "a member too many", '{"text": "tea", "source": "x"}', "'source'"
    yield "two objects", '{"text": "tea"}{"text": "coffee"}', "column"


@pytest.mark.parametrize(("line", "reason"), [case[1:] for case in bad_lines()], ids=[case[0] for case in bad_lines()])
def test_a_bad_line_is_named_with_its_number_and_reason(run, memory, folder, line, reason):
    (folder / "bad.jsonl").write_text(f'{{"text": "before"}}\n\n{line}\n{{"text": "after"}}\n')
    result = run("import", "bad.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: bad.jsonl, line 3: ")
    assert reason in result.stderr
    assert texts(memory().list(KEY)) == ["before"]


def test_an_import_goes_on_after_a_bad_line_was_mended_and_doubles_nothing(run, run_json, memory, folder):
    lines = [
        json.dumps({"key": f"slot#{number % 2}", "id": f"id-{number}", "text": f"fact {number}"})
        for number in range(2600)
    ]
    (folder / "data.jsonl").write_text("\n".join([*lines[:1700], lines[1700][:-3], *lines[1701:]]))
    result = run("import", "data.jsonl")
    assert result.exit_code == 1
    assert "data.jsonl, line 1701: " in result.stderr
    assert "1700 items before it stored" in result.stderr
    assert [memory().count(f"slot#{remainder}") for remainder in range(2)] == [850, 850]
    (folder / "data.jsonl").write_text("\n".join(lines))
    document = run_json("import", "data.jsonl")
    assert (document["read"], document["imported"], document["already_there"]) == (2600, 900, 1700)
    for remainder in range(2):
        ids = [item.id for item in memory().list(f"slot#{remainder}")]
        assert ids == [f"id-{number}" for number in range(2600) if number % 2 == remainder][::-1]


def test_an_interrupted_embedder_leaves_whole_chunks_and_the_next_import_goes_on(run, run_json, memory, monkeypatch):
    embed = HashEmbedder.embed

    async def fails_late(self, texts, *, kind="document"):
        if "fact 1500" in texts:
            raise ConnectionError("no route to the model")
        return await embed(self, texts, kind=kind)

    lines = "".join(f'{{"text": "fact {number}"}}\n' for number in range(2200))
    with monkeypatch.context() as patched:
        patched.setattr(HashEmbedder, "embed", fails_late)
        assert run("import", "-", input=lines).exit_code == 1
    assert memory().count(KEY) == 1000
    assert run_json("import", "-", input=lines)["imported"] == 1200
    assert texts(memory().list(KEY)) == [f"fact {number}" for number in range(2200)][::-1]


def test_max_items_keeps_the_newest_of_an_import(run, memory):
    lines = "".join(f'{{"text": "fact {number}"}}\n' for number in range(1500))
    run("import", "-", "--max-items", 3, input=lines)
    assert texts(memory().list(KEY)) == ["fact 1499", "fact 1498", "fact 1497"]


def test_a_missing_file_is_an_error_before_anything_is_read_or_created(run, folder):
    (folder / "there.txt").write_text("tea")
    result = run("import", "there.txt", "missing.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: missing.txt: No such file or directory\n"
    assert [path.name for path in folder.iterdir()] == ["there.txt"]


def test_a_folder_is_no_file_to_import(run, folder):
    (folder / "notes").mkdir()
    assert run("import", "notes").exit_code == 1
