import pytest

from tests.cli.conftest import KEY, in_terminal, texts


def test_forget_deletes_the_item_with_this_id(run, run_json, memory):
    tea = run_json("add", "tea")
    run("add", "coffee")
    assert run("forget", tea["id"]).stdout == "forgot 1 of memory#global\n"
    assert texts(memory().list(KEY)) == ["coffee"]


def test_forget_as_json_counts_by_key(run_json):
    tea = run_json("add", "tea", "--key", "a#x")
    assert run_json("forget", tea["id"], "--key", "a#x") == {"forgotten": 1, "keys": {"a#x": 1}}


def test_an_unknown_id_is_an_error_that_deletes_nothing(run, run_json, memory):
    tea = run_json("add", "tea")
    result = run("forget", tea["id"], "--key", "memory#other")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"error: memory#other holds no item with the id '{tea['id']}'; nothing was deleted\n"
    assert texts(memory().list(KEY)) == ["tea"]


def test_forget_all_clears_the_key_and_no_other(run_json, memory):
    memory().add_many("a#x", ["one", "two"])
    memory().add("a#xy", "three")
    assert run_json("forget", "--all", "--key", "a#x") == {"forgotten": 2, "keys": {"a#x": 2}}
    assert list(memory().scope_keys()) == ["a#xy"]


def test_forget_scope_clears_exactly_this_scope_in_every_slot(run_json, memory):
    kept = ["facts#user:sam2", "facts#user:Sam", "facts#x#user:sam", "user:sam", "facts#org:user:sam", "facts#%"]
    for key in ["facts#user:sam", "notes#user:sam", *kept]:
        memory().add(key, "tea")
    assert run_json("forget", "--scope", "user:sam", "--yes") == {
        "forgotten": 2,
        "keys": {"facts#user:sam": 1, "notes#user:sam": 1},
    }
    assert list(memory().scope_keys()) == sorted(kept)


def test_a_scope_key_may_hold_a_hash_sign_and_wildcards_stand_for_themselves(run_json, memory):
    for key in ("facts#a#b", "facts#b", "facts#%", "facts#c"):
        memory().add(key, "tea")
    assert run_json("forget", "--scope", "a#b")["keys"] == {"facts#a#b": 1}
    assert run_json("forget", "--scope", "%")["keys"] == {"facts#%": 1}
    assert list(memory().scope_keys()) == ["facts#b", "facts#c"]


def test_forgetting_a_scope_that_nobody_has_deletes_nothing(run, run_json, memory):
    run("add", "tea")
    assert run_json("forget", "--scope", "user:nobody") == {"forgotten": 0, "keys": {}}
    assert "nothing was deleted" in run("forget", "--scope", "user:nobody").stdout
    assert memory().count(KEY) == 1


@pytest.mark.parametrize(
    "arguments",
    [(), ("id", "--all"), ("id", "--scope", "s"), ("--all", "--scope", "s"), ("--scope", "s", "--key", "k#s")],
)
def test_forget_takes_exactly_one_of_id_all_and_scope(run, memory, arguments):
    run("add", "tea")
    result = run("forget", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert memory().count(KEY) == 1


@pytest.mark.parametrize("arguments", [("--all",), ("--scope", "global")])
def test_on_a_terminal_forget_asks_first_and_a_no_keeps_everything(run, memory, arguments):
    run("add", "tea")
    status, shown = in_terminal("forget", *arguments, typed=b"n\n")
    assert status == 1
    assert "1 item of memory#global" in shown
    assert "Delete them for good?" in shown
    assert memory().count(KEY) == 1


def test_on_a_terminal_a_yes_deletes(run, memory):
    run("add", "tea")
    status, shown = in_terminal("forget", "--all", typed=b"y\n")
    assert (status, "forgot 1 of memory#global" in shown) == (0, True)
    assert memory().count(KEY) == 0


def test_with_yes_nothing_is_asked_on_a_terminal(run, memory):
    run("add", "tea")
    status, shown = in_terminal("forget", "--all", "--yes")
    assert (status, shown.strip()) == (0, "forgot 1 of memory#global")
