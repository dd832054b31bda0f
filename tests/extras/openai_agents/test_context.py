"""Whose memory a run has: what its context says, by default and by a function."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from agents import RunContextWrapper

from tests.extras.openai_agents.play import add, call, define, offered, prompts, remembering, run, texts_in
from vectormem import MemoryContext, MemoryInvalidError, SqliteStore
from vectormem.adapters.openai_agents import VectormemSession, memory_context


@dataclass
class App:
    session_id: str | None = None
    principal: Any = None
    metadata: dict = field(default_factory=dict)


FULL = MemoryContext(session_id="s", metadata={"a": 1}, principal="ada")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, MemoryContext()),
        (FULL, FULL),
        (App("s", "ada", {"a": 1}), FULL),
        ({"session_id": "s", "metadata": {"a": 1}, "principal": "ada"}, FULL),
        ({"user": "ada"}, MemoryContext(metadata={"user": "ada"})),
        (SimpleNamespace(user="ada"), MemoryContext()),
        ("text", MemoryContext()),
    ],
)
def test_the_default_reads_what_the_context_of_the_run_holds(given, expected):
    found = memory_context(RunContextWrapper(given))
    assert (found.session_id, dict(found.metadata), found.principal) == (
        expected.session_id,
        dict(expected.metadata),
        expected.principal,
    )


def test_scopes_get_what_the_function_of_the_program_finds():
    slot = define(scope=lambda context: f"user:{context.metadata['user']}")
    ada = MemoryContext(metadata={"user": "ada"})
    add(slot, "I am Ada.", context=ada)
    agent = remembering(
        [slot],
        call("remember_notes", text="I was here."),
        "ok",
        memory={"context": lambda run: MemoryContext(metadata={"user": run.context.name})},
    )
    run(agent, context=SimpleNamespace(name="ada"))
    assert prompts(agent)[0].endswith("- I am Ada.\n</memory>")
    assert texts_in(slot, ada) == ["I was here.", "I am Ada."]


def test_a_session_scope_follows_the_session_of_the_run():
    slot = define(scope="session")
    agent = remembering([slot], call("remember_notes", text="Said in s1."), "one", "two", "three")
    with SqliteStore(":memory:") as store:
        run(agent, session=VectormemSession("s1", store))
        run(agent, session=VectormemSession("s2", store))
        run(agent, session=VectormemSession("s1", store))
    assert ["Said in s1." in prompt for prompt in prompts(agent)] == [False, False, False, True]
    assert offered(agent) == [["remember_notes", "recall_notes"]] * 4


def test_a_session_id_of_the_context_comes_before_that_of_the_session():
    slot = define(scope="session")
    agent = remembering([slot], call("remember_notes", text="x"), "ok")
    with SqliteStore(":memory:") as store:
        run(agent, session=VectormemSession("conversation", store), context={"session_id": "project"})
    assert texts_in(slot, MemoryContext(session_id="project")) == ["x"]


def test_a_session_id_that_is_no_text_is_refused():
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        run(remembering([define(scope="session")], "never"), context={"session_id": 7})
