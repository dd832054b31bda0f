"""The commands erase, backup, restore, history and undo."""

import asyncio
import json
import os
import stat
from contextlib import closing

import apsw
import pytest

from tests.cli.conftest import KEY, in_process, in_terminal, texts
from vectormem import ChatStorage, FileMemory, SqliteStore, blocking
from vectormem.stores.sqlite.sessions import SqliteSession
from vectormem.testing import HashEmbedder


def test_erase_removes_a_scope_in_every_slot_with_its_chats(run, run_json, memory):
    for key in ("facts#user:sam", "notes#user:sam", "facts#user:ann"):
        memory().add(key, "tea for everybody")
    with SqliteStore("vectormem.db") as store:
        chat = blocking(ChatStorage(store, embedder=HashEmbedder(), scope_key="user:sam"))
        chat.save_message("talk", "user", "what was said in the chat")
    assert run_json("erase", "user:sam") == {
        "erased": 2,
        "keys": {"facts#user:sam": 1, "notes#user:sam": 1},
        "messages": 1,
        "history": 0,
        "others": 0,
    }
    assert list(memory().scope_keys()) == ["facts#user:ann"]
    result = run("erase", "user:sam")
    assert (result.exit_code, result.stdout) == (
        0,
        "nothing of user:sam is stored; what was deleted before is overwritten\n",
    )
    assert run("erase", "facts#user:ann").stdout == "erased 1 item of facts#user:ann\n"


def test_erase_removes_what_adapters_keep_and_counts_it(run, run_json):
    for scope_key in ("user:sam", "user:ann"):
        with SqliteStore("vectormem.db") as store:
            session = SqliteSession(store, scope_key, "monday")
            asyncio.run(session.change(lambda rows: rows.append(["{}", "{}"])))
    assert run_json("erase", "user:sam") == {"erased": 0, "keys": {}, "messages": 0, "history": 0, "others": 2}
    assert run("erase", "user:ann").stdout == "erased 2 further rows of user:ann\n"


def test_erase_ends_with_1_and_says_why_where_a_reader_holds_it_back(run, run_json, memory, folder):
    run("add", "a needle in the haystack", "--key", "facts#sam")
    with closing(apsw.Connection("vectormem.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory_items").fetchall()
        result = in_process("erase", "sam", "--wait", "0")
        assert result.returncode == 1
        assert b"another connection, perhaps of another process" in result.stderr
        assert result.stdout == b""
        reader.execute("COMMIT")
    assert run("erase", "sam").exit_code == 0
    assert b"needle" not in (folder / "vectormem.db").read_bytes()


def test_erase_works_on_a_folder_of_files(run, run_json, folder):
    blocking(FileMemory("files")).add("facts#sam", "tea")
    assert run_json("erase", "sam", "--dir", "files")["keys"] == {"facts#sam": 1}
    assert list((folder / "files").iterdir()) == []
    assert run("erase", "sam", "--dir", "none").exit_code == 1
    assert not (folder / "vectormem.db").exists()


def test_on_a_terminal_erase_asks_first(run, memory):
    run("add", "tea", "--key", "facts#sam")
    status, shown = in_terminal("erase", "sam", typed=b"n\n")
    assert (status, "Erase everything of sam for good?" in shown) == (1, True)
    assert memory().count("facts#sam") == 1
    assert in_terminal("erase", "sam", "--yes")[0] == 0
    assert memory().count("facts#sam") == 0


def test_a_backup_is_restored_and_both_say_what_they_hold(run, run_json, memory, folder):
    run("add", "tea", "--key", "facts#sam")
    run("add", "milk")
    document = run_json("backup", "monday.db")
    assert (document["keys"], document["items"], document["messages"]) == ({"facts#sam": 1, KEY: 1}, 2, 0)
    assert stat.S_IMODE((folder / "monday.db").stat().st_mode) == 0o600 or os.name == "nt"
    run("forget", "--all")
    assert run("restore", "monday.db").exit_code == 1
    assert memory().count(KEY) == 0
    result = run("restore", "monday.db", "--overwrite")
    size = (folder / "monday.db").stat().st_size
    assert result.stdout.splitlines()[-1] == f"restored vectormem.db: 2 items, {size:,} bytes, no damage found"
    assert texts(memory().list(KEY)) == ["milk"]
    assert run_json("restore", "monday.db", "--db", "new.db")["items"] == 2


def test_backup_never_overwrites_silently_and_makes_no_database(run, folder):
    assert run("backup", "monday.db").exit_code == 1
    assert list(folder.iterdir()) == []
    run("add", "tea")
    (folder / "monday.db").write_text("mine")
    result = run("backup", "monday.db")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--overwrite" in result.stderr
    assert (folder / "monday.db").read_text() == "mine"
    assert run("backup", "monday.db", "--overwrite").exit_code == 0


def test_history_is_off_until_it_is_switched_on_and_undo_takes_a_wrong_forget_back(run, run_json, memory):
    run("add", "tea")
    result = run("history")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "vectormem history --on" in result.stderr
    assert run("undo").exit_code == 1
    assert run_json("history", "--on") == {"key": KEY, "is_kept": True, "entries": []}
    run("forget", "--all")
    (entry,) = run_json("history")["entries"]
    assert (entry["action"], entry["text"], entry["change"], entry["undone"]) == ("clear", "tea", 1, False)
    assert run("undo").stdout == "put back 1 item of memory#global (change 1)\n"
    assert texts(memory().list(KEY)) == ["tea"]
    assert [line.split("\t")[2] for line in run("history").stdout.splitlines()] == ["add (undo)", "clear (undone)"]
    assert run_json("history", "--off")["is_kept"] is False


def test_undo_takes_the_number_of_a_change(run, run_json, memory):
    run("add", "tea")
    run("history", "--on")
    run("forget", "--all")
    run("add", "milk")
    run("forget", "--all")
    assert run_json("undo", "1")["change"] == 1
    assert texts(memory().list(KEY)) == ["tea"]
    assert run("undo", "0").exit_code == 2


def test_what_history_shows_can_do_nothing_to_a_terminal(run, memory):
    memory().add(KEY, "before \x1b[2J after\nline")
    run("history", "--on")
    run("forget", "--all")
    assert "\x1b" not in run("history").stdout
    assert len(run("history").stdout.splitlines()) == 1


@pytest.mark.parametrize("command", ["erase", "backup", "restore", "history", "undo", "rekey"])
def test_the_new_commands_say_what_they_do(run, command):
    assert f"Example: vectormem {command} " in run(command, "--help").stdout.replace("\n ", " ")


def test_a_key_in_the_environment_is_refused_where_this_sqlite_cannot_encrypt(run, folder, monkeypatch):
    if hasattr(apsw, "mc_version"):
        pytest.skip("this SQLite encrypts")
    monkeypatch.setenv("VECTORMEM_DB_KEY", "a secret passphrase")
    for arguments in (("add", "tea"), ("doctor",), ("restore", "x.db"), ("demo",)):
        result = run(*arguments)
        if arguments != ("demo",):
            assert result.exit_code == 1
        assert "a secret passphrase" not in result.output
    assert json.loads(run("add", "tea", "--json").stdout)["error"]["code"] == "EXTRA_MISSING"
    assert not (folder / "vectormem.db").exists()
