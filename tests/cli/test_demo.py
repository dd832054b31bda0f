from tests.cli.conftest import in_process, in_terminal, texts

BLOCK = '<memory name="facts">\n- Sam is vegetarian.\n</memory>'
FACTS = ["Sam plays the cello.", "Sam works in Oslo.", "Sam is vegetarian."]


def test_the_second_conversation_recalls_by_meaning_what_the_first_remembered(run_json, folder):
    document = run_json("demo")
    first, second = document["conversations"]
    assert first["system_prompt"] == "You are a friendly assistant."
    assert second["system_prompt"] == f"You are a friendly assistant.\n\n{BLOCK}"
    assert first["session_id"] != second["session_id"]
    assert [tool["name"] for tool in second["tools"]] == ["remember_facts", "recall_facts"]
    assert "vegetarian" in second["answer"]
    assert texts(document["items"]) == FACTS
    assert list(folder.iterdir()) == []


def test_db_keeps_the_memory_of_the_demo(run, run_json, memory):
    assert run_json("demo", "--db", "demo.db")["db"] == "demo.db"
    assert texts(memory("demo.db").list("facts#user:sam")) == FACTS
    assert run("demo", "--db", "demo.db").exit_code == 0
    assert memory("demo.db").count("facts#user:sam") == 3


def test_the_demo_keeps_out_of_the_database_of_the_environment(run, folder, monkeypatch):
    monkeypatch.setenv("VECTORMEM_DB", str(folder / "precious.db"))
    assert run("demo").exit_code == 0
    assert list(folder.iterdir()) == []


def test_the_demo_takes_a_key_and_an_embedder(run, run_json):
    document = run_json("demo", "--key", "notes#team:tea", "--embedder", "hash:512")
    assert (document["key"], document["embedder"]) == ("notes#team:tea", "hash:512")
    assert '<memory name="notes">' in document["conversations"][1]["system_prompt"]
    assert run("demo", "--key", "no slot#x").exit_code == 1
    assert run("demo", "--key", "slot-only").exit_code == 1


def test_in_a_pipe_the_demo_is_plain_text(run):
    result = run("demo")
    assert result.exit_code == 0
    assert "".join(f"  {line}\n" for line in BLOCK.splitlines()) in result.stdout
    assert "assistant calls remember_facts" in result.stdout
    assert result.stdout.isascii()
    assert "\x1b" not in result.stdout


def test_on_a_terminal_the_demo_is_framed_and_coloured():
    status, shown = in_terminal("demo")
    assert status == 0
    assert "Sam is vegetarian." in shown
    assert "╭" in shown
    assert "\x1b[1;32m<memory" in shown


def test_the_demo_needs_no_test_package():
    blocked = "import sys; sys.modules['pytest'] = None; from vectormem.cli.app import app; app(['demo', '--json'])"
    assert in_process(code=blocked).returncode == 0
