"""The example runs offline, and what it remembers is in its file."""

from examples import openai_agents_agent as example
from vectormem import SqliteMemory, blocking


def test_the_example_remembers_and_keeps_its_conversation(tmp_path, capsys):
    path = tmp_path / "memory.db"
    example.main(["--db", str(path)])
    assert capsys.readouterr().out.splitlines() == ["I will remember it.", "You live in Oslo."]
    with blocking(SqliteMemory(path)) as memory:
        assert [item.text for item in memory.list("notes#user:ada")] == ["The user lives in Oslo."]


def test_it_runs_in_memory_too(capsys):
    example.main([])
    assert capsys.readouterr().out.splitlines() == ["I will remember it.", "You live in Oslo."]
