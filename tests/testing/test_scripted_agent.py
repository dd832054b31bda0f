"""ScriptedAgent keeps every rule of a run."""

import asyncio
import json

import pytest

from tests.providers.stand_ins import FailingProvider, MinimalProvider
from tests.testing.play import (
    BLOCK,
    agent_with,
    calling,
    define,
    holding,
    offered,
    send,
    systems,
    tool,
    tool_messages,
)
from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryInvalidError,
    StorageFailedError,
    blocking,
)
from vectormem.testing import ScriptedEmbedder


def test_items_that_were_added_before_are_at_the_end_of_the_first_system_message():
    agent = agent_with(holding(), instructions="Be brief.")
    result = send(agent)
    assert systems(agent) == [f"Be brief.\n\n{BLOCK}"]
    assert result.text == "ok"


def test_a_remembered_item_is_stored_and_the_prompt_shows_what_was_there_when_the_run_began():
    slot = holding()
    agent = agent_with(slot, turns=[calling("remember_notes", text="Lives in Oslo."), "Noted."])
    result = send(agent, "I live in Oslo.")
    assert [item.text for item in blocking(slot.provider).list("notes#global")] == [
        "Lives in Oslo.",
        "The user likes tea.",
    ]
    assert systems(agent) == [BLOCK, BLOCK]
    assert result.text == "Noted."


def test_the_messages_of_a_result_are_those_of_the_run_with_the_block():
    slot = holding(expose={"remember": False})
    agent = agent_with(slot, turns=[{"text": "Wait.", **calling("recall_notes", limit=1)}, "Tea."])
    result = send(agent, "What do I like?")
    answer = json.loads(result.messages[3]["content"])
    assert [item["text"] for item in answer["items"]] == ["The user likes tea."]
    assert result.messages == [
        {"role": "system", "content": BLOCK},
        {"role": "user", "content": "What do I like?"},
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [{"id": "call_1_0", "name": "recall_notes", "args": {"limit": 1}}],
        },
        {
            "role": "tool",
            "tool_call_id": "call_1_0",
            "name": "recall_notes",
            "content": result.messages[3]["content"],
        },
        {"role": "assistant", "content": "Tea."},
    ]
    assert agent.model.calls[1].messages == result.messages[:4]


def test_without_instructions_and_items_there_is_no_system_message():
    agent = agent_with(define())
    result = send(agent)
    assert systems(agent) == [None]
    assert result.messages == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}]


def test_every_run_recalls_once_however_many_requests_it_makes():
    provider = MinimalProvider()
    turns = [calling("remember_notes", text="one"), calling("remember_notes", text="two"), "done", "again"]
    agent = agent_with(define(provider), turns=turns)
    send(agent)
    assert [call for call in provider.calls if call[0] == "list"] == [("list", "notes#global", 10, None)]
    send(agent)
    assert [call for call in provider.calls if call[0] == "list"] == [("list", "notes#global", 10, None)] * 2
    assert agent.model.calls[-1].system == '<memory name="notes">\n- two\n- one\n</memory>'


def test_the_last_input_of_the_run_is_the_query():
    embedder = ScriptedEmbedder({"near": (1, 0), "far": (0, 1), "question": (1, 0)})
    slot = define(InMemoryVectorMemory(embedder=embedder), recall={"query": "last-input"})
    blocking(slot.provider).add_many("notes#global", ["near", "far"])
    agent = agent_with(slot)
    send(agent, "question")
    assert systems(agent) == ['<memory name="notes">\n- near\n</memory>']


def test_a_slot_that_is_off_is_neither_recalled_nor_offered():
    agent = agent_with(define(scope="session"), define(name="facts"))
    send(agent)
    assert offered(agent.model.calls[0]) == ["remember_facts", "recall_facts"]


def test_the_context_of_a_run_reaches_the_scopes():
    seen = []
    agent = agent_with(define(scope=lambda context: seen.append(context)))
    send(agent, session_id="s1", metadata={"user": "ada"}, principal="ada@example.com")
    assert [(one.session_id, one.metadata, one.principal) for one in seen] == [
        ("s1", {"user": "ada"}, "ada@example.com")
    ]


def test_a_bad_scope_fails_the_run_before_the_model_is_asked():
    agent = agent_with(define(scope=lambda context: f"user:{context.principal}"))
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        send(agent)
    assert agent.model.calls == []


def test_a_failing_recall_does_not_fail_the_run(caplog):
    agent = agent_with(define(FailingProvider(OSError("gone")), "broken"), holding(), instructions="Be brief.")
    assert send(agent).text == "ok"
    assert systems(agent) == [f"Be brief.\n\n{BLOCK}"]
    assert "memory 'broken': recall failed" in caplog.text


@pytest.mark.parametrize(
    ("slot", "call", "reason"),
    [
        (define(FailingProvider(OSError("gone"))), calling("recall_notes"), "gone"),
        (define(FailingProvider(StorageFailedError("locked"))), calling("remember_notes", text="x"), "locked"),
        (define(), calling("remember_notes", text=""), "text"),
        (define(), calling("recall_notes", limit=0), "limit"),
        (define(), calling("forget_notes", id="x"), "forget_notes"),
    ],
)
def test_an_error_of_a_tool_is_told_to_the_model_and_the_run_goes_on(slot, call, reason, caplog):
    result = send(agent_with(slot, turns=[call, "Sorry."]))
    message = tool_messages(result)[0]
    assert message["is_error"] is True
    assert reason in message["content"]
    assert result.text == "Sorry."


def test_an_embedder_that_fails_is_told_to_the_model_and_stores_nothing():
    embedder = ScriptedEmbedder()
    embedder.answer = lambda texts: []
    slot = define(InMemoryVectorMemory(embedder=embedder))
    result = send(agent_with(slot, turns=[calling("remember_notes", text="x"), "Sorry."]))
    assert "returned 0 vectors for 1 texts" in tool_messages(result)[0]["content"]
    assert list(blocking(slot.provider).list("notes#global")) == []


def test_several_calls_of_one_turn_are_answered_in_order():
    calls = {
        "tool_calls": [
            {"name": "remember_notes", "args": {"text": "one"}},
            {"name": "remember_notes", "args": '{"text": "two"}'},
        ]
    }
    slot = define()
    result = send(agent_with(slot, turns=[calls, "done"]))
    stored = [item.id for item in blocking(slot.provider).list("notes#global")][::-1]
    assert [json.loads(message["content"])["remembered"] for message in tool_messages(result)] == stored
    assert [message["tool_call_id"] for message in tool_messages(result)] == ["call_1_0", "call_1_1"]


def test_two_slots_of_one_name_are_refused_when_the_agent_is_made():
    with pytest.raises(MemoryInvalidError, match="notes"):
        agent_with(define(), define(scope="session"))


@pytest.mark.parametrize("name", ["remember_notes", "recall_notes"])
def test_a_tool_with_the_name_of_a_memory_tool_is_refused_when_the_agent_is_made(name):
    with pytest.raises(MemoryInvalidError, match=name):
        agent_with(define(), tools=[tool(name, None)])
    agent_with(define(), tools=[tool("forget_notes", None)])


def test_a_session_keeps_its_transcript_without_blocks():
    agent = agent_with(holding(), turns=["one", "two"], instructions="Be brief.")
    session = agent.session("s1")
    asyncio.run(session.send("first"))
    result = asyncio.run(session.send("second"))
    transcript = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "second"},
        {"role": "assistant", "content": "two"},
    ]
    assert session.messages == transcript
    assert result.messages == [{"role": "system", "content": f"Be brief.\n\n{BLOCK}"}, *transcript]
    assert agent.model.calls[1].messages == result.messages[:-1]


def test_each_turn_of_a_session_recalls_anew():
    slot = define(scope="session")
    agent = agent_with(slot, turns=[calling("remember_notes", text="one"), "ok", "ok"])
    session = agent.session("s1")
    asyncio.run(session.send("first"))
    asyncio.run(session.send("second"))
    assert systems(agent) == [None, None, '<memory name="notes">\n- one\n</memory>']


def test_a_session_scope_follows_the_id_of_the_session():
    agent = agent_with(define(scope="session"), turns=[calling("remember_notes", text="one"), "ok", "ok", "ok", "ok"])
    asyncio.run(agent.session("s1").send("first"))
    asyncio.run(agent.session("s2").send("other"))
    send(agent, session_id="s1")
    asyncio.run(agent.session("s1").send("second"))
    block = '<memory name="notes">\n- one\n</memory>'
    assert systems(agent)[2:] == [None, block, block]


def test_a_session_without_an_id_gets_one_of_its_own():
    agent = agent_with(define())
    one, two = agent.session(), agent.session()
    assert one.id != two.id
    assert agent.session(one.id) is one


def test_metadata_and_principal_are_given_with_each_turn_of_a_session():
    slot = define(scope=lambda context: f"{context.metadata['team']}:{context.principal}")
    agent = agent_with(slot, turns=[calling("remember_notes", text="one"), "ok"])
    asyncio.run(agent.session("s1").send("first", metadata={"team": "red"}, principal="ada"))
    assert list(blocking(slot.provider).scope_keys()) == ["notes#red:ada"]


def test_a_failed_turn_leaves_the_transcript_as_it_was():
    agent = agent_with(define(), turns=["one"])
    session = agent.session("s1")
    asyncio.run(session.send("first"))
    before = list(session.messages)
    with pytest.raises(AssertionError):
        asyncio.run(session.send("second"))
    assert session.messages == before


def test_a_sub_agent_has_slots_of_its_own_under_the_keys_of_the_leads_run():
    provider = InMemoryMemory()
    research = define(provider, "research", scope="session")
    sub_agent = agent_with(research, turns=[calling("remember_research", text="Oslo is north."), "Found.", "Known."])

    async def delegate(arguments):
        return {"answer": (await sub_agent.send(arguments["task"], session_id="s1")).text}

    notes = define(provider, scope="session")
    turns = [calling("delegate", task="look"), "ok", calling("delegate", task="look again"), "ok"]
    lead = agent_with(notes, turns=turns, tools=[tool("delegate", delegate)])
    send(lead, session_id="s1")
    send(lead, session_id="s1")
    assert list(blocking(provider).scope_keys()) == ["research#session:s1"]
    assert {name for call in lead.model.calls for name in offered(call)} == {
        "remember_notes",
        "recall_notes",
        "delegate",
    }
    assert {name for call in sub_agent.model.calls for name in offered(call)} == {
        "remember_research",
        "recall_research",
    }
    assert systems(lead) == [None] * 4
    assert sub_agent.model.calls[-1].system == '<memory name="research">\n- Oslo is north.\n</memory>'
