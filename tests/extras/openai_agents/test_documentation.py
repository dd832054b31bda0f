"""The page on the OpenAI Agents SDK."""

from tests.extras.documentation import run_examples


def test_the_example_prints_what_stands_below_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [(printed, expected, _)] = run_examples("openai_agents.md")
    assert printed == expected
