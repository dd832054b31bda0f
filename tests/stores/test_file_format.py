"""What a FileMemory writes, reads and refuses."""

import json
from datetime import UTC, datetime

import pytest

from tests.conftest import texts_of
from vectormem import FileMemory, MemoryInvalidError, MemoryItem, StorageFailedError, blocking

KEY = "notes#global"
NAME = "notes%23global.json"
ITEM = {"id": "1", "text": "Tea is ready.", "created_at": "2026-01-02T03:04:05Z"}
VERBS = {
    "list": lambda memory: memory.list(KEY),
    "query": lambda memory: memory.list(KEY, query="tea"),
    "get": lambda memory: memory.get(KEY, "1"),
    "count": lambda memory: memory.count(KEY),
    "add": lambda memory: memory.add(KEY, "Coffee."),
    "add_many": lambda memory: memory.add_many(KEY, ["Coffee.", "Milk."]),
    "upsert": lambda memory: memory.upsert(KEY, "Coffee.", id="1"),
    "remove": lambda memory: memory.remove(KEY, "1"),
    "clear": lambda memory: memory.clear(KEY),
    "restore": lambda memory: memory.restore(KEY, [MemoryItem(**ITEM)]),
}


@pytest.fixture
def memory(tmp_path):
    return blocking(FileMemory(tmp_path))


def document(**changes):
    return json.dumps({"version": 1, "key": KEY, "items": [ITEM], **changes}).encode()


def test_a_file_holds_the_version_the_key_and_the_items_oldest_first(tmp_path):
    moments = iter([datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)])
    ids = iter(["first", "second"])
    memory = blocking(FileMemory(tmp_path, clock=lambda: next(moments), new_id=lambda: next(ids)))
    memory.add(KEY, "Tea.", metadata={"cups": 2, "note": None})
    memory.add(KEY, "Caf\u00e9 \u2615")
    content = (tmp_path / NAME).read_text("utf-8")
    assert json.loads(content) == {
        "version": 1,
        "key": KEY,
        "items": [
            {
                "id": "first",
                "text": "Tea.",
                "created_at": "2026-01-02T03:04:05Z",
                "metadata": {"cups": 2, "note": None},
            },
            {"id": "second", "text": "Caf\u00e9 \u2615", "created_at": "2026-01-02T03:04:05.678901Z"},
        ],
    }
    assert content.endswith("}\n")
    assert "Caf\u00e9" in content


def test_the_folder_holds_the_file_of_the_key_and_nothing_else(memory, tmp_path):
    memory.add(KEY, "Tea.")
    memory.add(KEY, "Milk.")
    memory.add("session:a", "Milk.")
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, "session%3aa.json"]


def test_a_bare_array_of_items_is_read_oldest_first(memory, tmp_path):
    second = {**ITEM, "id": "2", "text": "Milk.", "metadata": {"fat": 1.5}}
    (tmp_path / NAME).write_text(json.dumps([ITEM, second]))
    found = memory.list(KEY)
    assert [(item.id, item.text, item.metadata) for item in found] == [
        ("2", "Milk.", {"fat": 1.5}),
        ("1", "Tea is ready.", None),
    ]


def test_a_bare_array_becomes_a_document_at_the_next_change(memory, tmp_path):
    (tmp_path / NAME).write_text(json.dumps([ITEM]))
    memory.add(KEY, "Milk.")
    content = json.loads((tmp_path / NAME).read_text())
    assert (content["version"], content["key"], content["items"][0]) == (1, KEY, ITEM)


@pytest.mark.parametrize("content", [b"[]", document(items=[]), b"\xef\xbb\xbf[]"])
def test_a_document_without_items_is_an_empty_memory(memory, tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    assert memory.list(KEY) == []
    assert memory.scope_keys() == []


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{",
        b"{}",
        b"null",
        b"3",
        b'"text"',
        b"[1]",
        b"\xff",
        document()[:40],
        document() + document(),
        document(version=None),
        document(version="1"),
        document(version=1.0),
        document(version=True),
        document(version=2),
        document(version=999),
        document(key="notes#other"),
        document(key=None),
        document(items=None),
        document(items={}),
        document(items=[{**ITEM, "created_at": "2026-01-02T03:04:05"}]),
        document(items=[{**ITEM, "created_at": "yesterday"}]),
        document(items=[{**ITEM, "text": None}]),
        document(items=[{"text": "x"}]),
        document(items=[{**ITEM, "surprise": 1}]),
        document(items=[ITEM, {**ITEM, "id": "2"}]),
        document(items=[ITEM, {**ITEM, "text": "Milk."}]),
        b"[" * 100_000,
    ],
)
def test_a_damaged_or_newer_file_is_a_loud_error_and_stays_as_it_is(memory, tmp_path, content, verb):
    """odysseus-dev/odysseus#5831, NousResearch/hermes-agent#57754, alphaonedev/ai-memory-mcp#2574"""
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(StorageFailedError, match="notes%23global"):
        VERBS[verb](memory)
    assert (tmp_path / NAME).read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_newer_file_asks_for_an_upgrade(memory, tmp_path):
    (tmp_path / NAME).write_bytes(document(version=2))
    with pytest.raises(StorageFailedError, match="format version 2, newer than 1: upgrade vectormem"):
        memory.list(KEY)


def test_an_absent_file_is_an_empty_memory(memory, tmp_path):
    assert memory.list(KEY) == []
    assert memory.count(KEY) == 0
    assert memory.remove(KEY, "1") is False
    assert memory.clear(KEY) == 0


def test_a_missing_folder_is_an_empty_memory_that_reading_does_not_create(tmp_path):
    memory = blocking(FileMemory(tmp_path / "not" / "there"))
    assert memory.list(KEY) == []
    assert memory.scope_keys() == []
    assert not (tmp_path / "not").exists()
    memory.add(KEY, "Tea.")
    assert (tmp_path / "not" / "there" / NAME).exists()


def test_a_file_where_the_folder_should_be_is_a_storage_error(tmp_path):
    (tmp_path / "plain").write_text("mine")
    memory = blocking(FileMemory(tmp_path / "plain"))
    for verb in VERBS.values():
        with pytest.raises(StorageFailedError):
            verb(memory)
    with pytest.raises(StorageFailedError):
        memory.scope_keys()
    assert (tmp_path / "plain").read_text() == "mine"


@pytest.mark.parametrize("folder", ["", None, 3, b"bytes"])
def test_a_folder_that_is_no_path_is_refused(folder):
    with pytest.raises(MemoryInvalidError, match="dir"):
        FileMemory(folder)


def test_the_last_item_takes_the_file_with_it(memory, tmp_path):
    item = memory.add(KEY, "Tea.")
    memory.remove(KEY, item.id)
    assert list(tmp_path.iterdir()) == []


def test_an_unchanged_file_is_not_written_again(memory, tmp_path):
    memory.add(KEY, "Tea.")
    before = (tmp_path / NAME).stat()
    memory.add(KEY, "Tea.")
    memory.remove(KEY, "unknown")
    after = (tmp_path / NAME).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


LEGACY_NAMES = [
    ("notes#user:Alice", "notes%23user%3AAlice.json"),
    ("a*b", "a*b.json"),
    ("con", "con.json"),
    ("a.", "a..json"),
    ("É", "%C3%89.json"),
]


@pytest.mark.parametrize(("key", "older"), LEGACY_NAMES)
def test_an_older_file_name_is_still_read(memory, tmp_path, key, older):
    (tmp_path / older).write_text(json.dumps([ITEM]))
    assert texts_of(memory.list(key)) == ["Tea is ready."]
    assert memory.scope_keys() == [key]
    assert [path.name for path in tmp_path.iterdir()] == [older]


@pytest.mark.parametrize(("key", "older"), LEGACY_NAMES)
def test_an_older_file_is_moved_by_the_next_save(memory, tmp_path, key, older):
    (tmp_path / older).write_text(json.dumps([ITEM]))
    memory.add(key, "Milk.")
    assert not (tmp_path / older).exists()
    assert len(list(tmp_path.iterdir())) == 1
    assert texts_of(memory.list(key)) == ["Milk.", "Tea is ready."]


def test_an_older_file_is_gone_with_its_last_item(memory, tmp_path):
    (tmp_path / "notes%23user%3AAlice.json").write_text(json.dumps([ITEM]))
    assert memory.remove("notes#user:Alice", "1") is True
    assert list(tmp_path.iterdir()) == []


def test_the_newer_of_two_file_names_counts(memory, tmp_path):
    memory.add("notes#user:Alice", "New.")
    (tmp_path / "notes%23user%3AAlice.json").write_text(json.dumps([ITEM]))
    assert texts_of(memory.list("notes#user:Alice")) == ["New."]


def test_a_key_does_not_read_the_older_file_of_its_case_twin(memory, tmp_path):
    (tmp_path / "notes%23user%3AAlice.json").write_text(json.dumps([ITEM]))
    assert memory.list("notes#user:alice") == []
    assert memory.list("notes#user:ALICE") == []


def test_a_key_too_long_for_a_file_name_is_listed_as_it_is(memory):
    keys = sorted(["x" * 5000, "x" * 5001, "X" * 5000, "é" * 400])
    for key in keys:
        memory.add(key, f"text of {len(key)} {key[0]}")
    assert memory.scope_keys() == keys
    assert [texts_of(memory.list(key)) for key in keys] == [[f"text of {len(key)} {key[0]}"] for key in keys]


def test_another_programs_files_in_the_folder_are_left_alone(memory, tmp_path):
    (tmp_path / "README.txt").write_text("mine")
    (tmp_path / "sub").mkdir()
    memory.add(KEY, "Tea.")
    assert memory.scope_keys() == [KEY]
    assert (tmp_path / "README.txt").read_text() == "mine"


def test_a_relative_folder_is_that_of_the_moment_of_opening(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    memory = blocking(FileMemory("memory"))
    memory.add(KEY, "Tea.")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert texts_of(memory.list(KEY)) == ["Tea."]
    memory.add(KEY, "Milk.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "memory"]
    assert list((tmp_path / "elsewhere").iterdir()) == []
