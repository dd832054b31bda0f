"""Runs that pause for an approval and go on."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.extras.langgraph.models import RUNS, agent, model, say, slot, texts_of, thread
from vectormem import MemoryContext, MemoryInvalidError, SqliteStore, blocking
from vectormem.adapters.langgraph_saver import VectormemSaver

TEA = '<memory name="notes">\n- The user likes tea.\n</memory>'
APPROVE = Command(resume={"decisions": [{"type": "approve"}]})


@tool
def send_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


def asking(asked, *slots, needs=("send_mail",), saver=None, options=None):
    return agent(
        asked,
        *slots,
        tools=[send_mail],
        middleware=[HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(needs, True))],
        checkpointer=saver or InMemorySaver(),
        options=options,
    )


@pytest.fixture(params=RUNS)
def run(request):
    return RUNS[request.param]


@pytest.fixture(params=["LangGraph's saver", "ours"])
def saver(request):
    return InMemorySaver() if request.param == "LangGraph's saver" else VectormemSaver(":memory:")


def test_a_resumed_run_has_the_same_block_by_one_recall(run, saver):
    notes, asked = slot("The user likes tea."), model(("send_mail", {"to": "bo"}), "done")
    one = asking(asked, notes, saver=saver)
    assert "__interrupt__" in run(one, say(), thread())
    blocking(notes.provider).add("notes#global", "Added while the run waited.")
    given = run(one, APPROVE, thread())
    assert asked.prompts == [TEA, TEA]
    assert notes.provider.lists == 1
    assert [message.text for message in given["messages"]][-2:] == ["sent to bo", "done"]


def test_after_the_pause_no_memory_tools_are_offered(run, saver):
    asked = model(("send_mail", {"to": "bo"}), ("send_mail", {"to": "cy"}), "done")
    one = asking(asked, slot("The user likes tea."), saver=saver)
    run(one, say(), thread())
    run(one, APPROVE, thread())
    run(one, APPROVE, thread())
    with_memory = ["send_mail", "remember_notes", "recall_notes"]
    assert asked.offered == [with_memory, ["send_mail"], ["send_mail"]]
    assert asked.prompts == [TEA, TEA, TEA]


def test_the_next_run_offers_them_again_and_recalls_anew(run, saver):
    notes, asked = slot("The user likes tea."), model(("send_mail", {"to": "bo"}), "done", "ok")
    one = asking(asked, notes, saver=saver)
    run(one, say(), thread())
    run(one, APPROVE, thread())
    blocking(notes.provider).add("notes#global", "New.")
    run(one, say(), thread())
    assert asked.offered[2] == ["send_mail", "remember_notes", "recall_notes"]
    assert asked.prompts[2] == '<memory name="notes">\n- New.\n- The user likes tea.\n</memory>'


def test_while_it_waits_the_checkpoint_holds_the_block_and_afterwards_not(run, saver):
    one = asking(model(("send_mail", {"to": "bo"}), "done"), slot("The user likes tea."), saver=saver)
    run(one, say(), thread())
    assert saver.get(thread())["channel_values"]["recalled_memory"]["blocks"] == {"notes": TEA}
    run(one, APPROVE, thread())
    assert saver.get(thread())["channel_values"]["recalled_memory"] is None


def test_a_paused_run_goes_on_in_another_process_with_what_the_file_holds(run, tmp_path):
    notes = slot("The user likes tea.")
    with SqliteStore(tmp_path / "memory.db") as store:
        run(asking(model(("send_mail", {"to": "bo"})), notes, saver=VectormemSaver(store)), say(), thread())
    asked = model("done")
    with SqliteStore(tmp_path / "memory.db") as store:
        given = run(asking(asked, notes, saver=VectormemSaver(store)), APPROVE, thread())
    assert (asked.prompts, asked.offered) == ([TEA], [["send_mail"]])
    assert given["messages"][-1].text == "done"


def test_a_memory_call_that_was_approved_is_made(run, saver):
    notes, asked = slot(), model(("remember_notes", {"text": "Tea."}), "done")
    one = asking(asked, notes, needs=["remember_notes"], saver=saver)
    run(one, say(), thread())
    assert texts_of(notes) == []
    run(one, APPROVE, thread())
    assert texts_of(notes) == ["Tea."]


def test_a_memory_call_after_the_pause_is_not_made_since_it_was_not_offered(run, saver):
    notes, asked = slot(), model(("send_mail", {"to": "bo"}), ("remember_notes", {"text": "Tea."}), "done")
    one = asking(asked, notes, saver=saver)
    run(one, say(), thread())
    given = run(one, APPROVE, thread())
    assert texts_of(notes) == []
    assert [message.status for message in given["messages"] if isinstance(message, ToolMessage)][-1] == "error"
    assert given["messages"][-1].text == "done"


def test_a_run_that_paused_without_memory_has_none_when_it_goes_on(run, saver):
    notes, asked = slot("The user likes tea."), model(("send_mail", {"to": "bo"}), ("send_mail", {"to": "cy"}), "done")
    needs = HumanInTheLoopMiddleware(interrupt_on={"send_mail": True})
    run(create_agent(asked, tools=[send_mail], middleware=[needs], checkpointer=saver), say(), thread())
    one = asking(asked, notes, saver=saver)
    run(one, APPROVE, thread())
    run(one, APPROVE, thread())
    assert asked.prompts == [None, None, None]
    assert notes.provider.lists == 0


def test_a_memory_call_that_was_rejected_is_not_made(run, saver):
    notes, asked = slot(), model(("remember_notes", {"text": "Tea."}), "done")
    one = asking(asked, notes, needs=["remember_notes"], saver=saver)
    run(one, say(), thread())
    given = run(one, Command(resume={"decisions": [{"type": "reject", "message": "no"}]}), thread())
    assert texts_of(notes) == []
    assert [message.status for message in given["messages"] if isinstance(message, ToolMessage)] == ["error"]


def test_what_was_recalled_for_one_user_is_not_shown_to_another_who_resumes(run, saver):
    notes = slot("Ada's.", scope=lambda context: f"user:{context.principal}", key="notes#user:ada")
    options = {"context": lambda runtime: MemoryContext(principal=runtime.context["user"])}
    one = asking(model(("send_mail", {"to": "bo"}), "done"), notes, saver=saver, options=options)
    run(one, say(), thread(), context={"user": "ada"})
    with pytest.raises(MemoryInvalidError, match="under another scope key"):
        run(one, APPROVE, thread(), context={"user": "bo"})
