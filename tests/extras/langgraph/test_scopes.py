"""Whose memory an agent sees: by thread, by the runtime's context, and by a function of the runtime."""

from dataclasses import dataclass

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from pydantic import BaseModel

from tests.extras.langgraph.models import RUNS, agent, model, say, slot, texts_of, thread
from vectormem import MemoryContext, MemoryInvalidError

OF_USER = {"scope": lambda context: f"user:{context.metadata['user_id']}"}
REMEMBER = ("remember_notes", {"text": "Tea."})


@dataclass(slots=True)
class Given:
    user_id: str


class GivenModel(BaseModel):
    user_id: str


@pytest.fixture(params=RUNS)
def run(request):
    return RUNS[request.param]


def test_a_session_is_the_thread(run):
    notes, asked = slot(scope="session"), model(REMEMBER, "ok", "ok", "ok")
    one = agent(asked, notes, checkpointer=InMemorySaver())
    run(one, say(), thread("t1"))
    run(one, say(), thread("t1"))
    run(one, say(), thread("t2"))
    assert asked.prompts == [None, None, '<memory name="notes">\n- Tea.\n</memory>', None]
    assert texts_of(notes, "notes#session:t1") == ["Tea."]


def test_without_a_thread_a_session_slot_is_off(run):
    asked = model("ok")
    run(agent(asked, slot(scope="session"), slot("Tea.", name="facts")), say())
    assert asked.offered == [["remember_facts", "recall_facts"]]
    assert asked.prompts == ['<memory name="facts">\n- Tea.\n</memory>']


@pytest.mark.parametrize("given", [{"user_id": "ada"}, Given("ada"), GivenModel(user_id="ada")], ids=str)
def test_the_fields_of_the_runtimes_context_are_metadata(run, given):
    notes, asked = slot(**OF_USER), model(REMEMBER, "ok", "ok")
    one = agent(asked, notes, context_schema=dict if isinstance(given, dict) else type(given))
    run(one, say(), context=given)
    run(one, say(), context=given)
    assert asked.prompts[2] == '<memory name="notes">\n- Tea.\n</memory>'
    assert texts_of(notes, "notes#user:ada") == ["Tea."]


def test_another_user_sees_nothing(run):
    asked = model("ok")
    one = agent(asked, slot("Ada's.", key="notes#user:ada", **OF_USER), context_schema=Given)
    run(one, say(), context=Given("bo"))
    assert asked.prompts == [None]


def test_a_function_of_the_runtime_makes_the_context(run):
    seen = []

    def context(runtime: Runtime[Given]) -> MemoryContext:
        seen.append(runtime.context.user_id)
        return MemoryContext(session_id="s", principal=runtime.context.user_id)

    notes, asked = slot(scope=lambda context: f"user:{context.principal}"), model(REMEMBER, "ok")
    run(agent(asked, notes, options={"context": context}, context_schema=Given), say(), context=Given("ada"))
    assert set(seen) == {"ada"}
    assert texts_of(notes, "notes#user:ada") == ["Tea."]


def test_a_scope_that_fails_fails_the_run(run):
    with pytest.raises(MemoryInvalidError, match="the scope of memory 'notes' failed"):
        run(agent(model("ok"), slot(scope=lambda context: context.metadata["nobody"])), say())


def test_two_slots_of_one_name_fail_the_run(run):
    with pytest.raises(MemoryInvalidError, match="two slots of this run are called 'notes'"):
        run(agent(model("ok"), slot(), slot()), say())
