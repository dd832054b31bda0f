"""What a run recalls by itself, when, and what happens where that fails."""

import asyncio

import pytest

from tests.providers.stand_ins import MinimalProvider
from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryRun,
    Recall,
    blocking,
    define_memory,
)
from vectormem.testing import ScriptedEmbedder


def define(provider, name="notes", **options):
    return define_memory(**{"name": name, "scope": "global", "provider": provider, **options})


def holding(*texts, provider=None, key="notes#global"):
    provider = provider or InMemoryMemory()
    for text in texts:
        blocking(provider).add(key, text)
    return provider


def block_of(*slots, last_input=None):
    return blocking(MemoryRun(slots)).block(last_input)


def test_the_block_lists_the_items_newest_first():
    slot = define(holding("The user likes tea.", "The user wants answers in French."))
    assert block_of(slot) == (
        '<memory name="notes">\n- The user wants answers in French.\n- The user likes tea.\n</memory>'
    )


def test_the_block_comes_last_after_one_blank_line():
    slot = define(holding("likes tea"))
    prompt = blocking(MemoryRun([slot])).system_prompt("Be brief.\nBe kind.")
    assert prompt == 'Be brief.\nBe kind.\n\n<memory name="notes">\n- likes tea\n</memory>'


@pytest.mark.parametrize("instructions", ["", None])
def test_without_instructions_the_prompt_holds_only_the_block(instructions):
    slot = define(holding("likes tea"))
    prompt = blocking(MemoryRun([slot])).system_prompt(instructions)
    assert prompt == '<memory name="notes">\n- likes tea\n</memory>'


def test_blocks_follow_each_other_in_slot_order_with_a_blank_line_between():
    provider = InMemoryMemory()
    blocking(provider).add("goals#global", "learn Dutch")
    blocking(provider).add("facts#global", "likes tea")
    prompt = blocking(MemoryRun([define(provider, "facts"), define(provider, "goals")])).system_prompt("Be brief.")
    assert prompt == (
        'Be brief.\n\n<memory name="facts">\n- likes tea\n</memory>\n\n<memory name="goals">\n- learn Dutch\n</memory>'
    )


def test_a_slot_without_items_adds_nothing():
    slots = define(InMemoryMemory(), "empty"), define(holding("likes tea"))
    assert blocking(MemoryRun(slots)).system_prompt("Be brief.") == (
        'Be brief.\n\n<memory name="notes">\n- likes tea\n</memory>'
    )
    assert blocking(MemoryRun(slots[:1])).system_prompt("Be brief.") == "Be brief."


def test_at_most_ten_items_are_recalled_unless_the_slot_says_otherwise():
    provider = holding(*(f"item {n}" for n in range(12)))
    lines = block_of(define(provider)).splitlines()
    assert lines[1:-1] == [f"- item {n}" for n in range(11, 1, -1)]
    lines = block_of(define(provider, recall={"max_items": 2})).splitlines()
    assert lines[1:-1] == ["- item 11", "- item 10"]


def test_a_provider_that_returns_too_many_items_is_cut():
    class Generous(MinimalProvider):
        async def list(self, scope_key, *, limit=None, query=None):
            return await super().list(scope_key, limit=None, query=query)

    provider = holding("one", "two", "three", provider=Generous())
    assert block_of(define(provider, recall={"max_items": 2})) == '<memory name="notes">\n- three\n- two\n</memory>'


def test_a_run_asks_each_provider_once():
    provider = MinimalProvider()
    run = blocking(MemoryRun([define(provider)]))
    run.system_prompt("Be brief.", last_input="hello")
    run.system_prompt("Be brief.")
    run.block()
    assert provider.calls == [("list", "notes#global", 10, None)]


def test_calls_at_the_same_time_ask_each_provider_once():
    provider = MinimalProvider()
    run = MemoryRun([define(provider)])

    async def recall():
        return await asyncio.gather(*(run.block() for _ in range(5)))

    assert asyncio.run(recall()) == [""] * 5
    assert len(provider.calls) == 1


def test_the_block_stays_as_it_was_when_the_memory_changes_during_the_run():
    slot = define(holding("likes tea"))
    run = blocking(MemoryRun([slot]))
    first = run.system_prompt("Be brief.")
    run.call("remember_notes", {"text": "lives in Oslo"})
    assert run.system_prompt("Be brief.") == first
    assert "lives in Oslo" in block_of(slot)


def test_a_slot_may_recall_nothing_and_still_offer_its_tools():
    slot = define(holding("likes tea"), recall=Recall(on_session_start=False))
    run = MemoryRun([slot])
    assert blocking(run).block() == ""
    assert [tool.name for tool in run.tools] == ["remember_notes", "recall_notes"]


def test_last_input_is_the_query_where_the_slot_asks_for_it():
    provider = MinimalProvider()
    slots = define(provider, "plain"), define(provider, "asking", recall={"query": "last-input", "max_items": 4})
    block_of(*slots, last_input="What about tea?")
    assert sorted(provider.calls, key=str) == [
        ("list", "asking#global", 4, "What about tea?"),
        ("list", "plain#global", 10, None),
    ]


@pytest.mark.parametrize("last_input", [None, "", "  \n"])
def test_an_empty_last_input_recalls_the_newest(last_input):
    provider = MinimalProvider()
    block_of(define(provider, recall={"query": "last-input"}), last_input=last_input)
    assert provider.calls == [("list", "notes#global", 10, None)]


def test_last_input_takes_from_a_keyword_memory_what_shares_a_word():
    slot = define(holding("likes tea", "has two cats", "lives in Oslo"), recall={"query": "last-input"})
    assert block_of(slot, last_input="Buy cat food") == '<memory name="notes">\n- has two cats\n</memory>'
    assert block_of(slot, last_input="Hello there") == ""


def test_last_input_takes_from_a_vector_memory_what_is_closest():
    embedder = ScriptedEmbedder({"old": (1, 0), "middle": (0, 1), "new": (3, 4), "question": (1, 0)})
    provider = holding("old", "middle", "new", provider=InMemoryVectorMemory(embedder=embedder))
    slot = define(provider, recall={"query": "last-input"})
    assert block_of(slot, last_input="question") == '<memory name="notes">\n- old\n- new\n</memory>'


def test_without_last_input_a_vector_memory_gives_the_newest_and_embeds_nothing():
    embedder = ScriptedEmbedder()
    provider = holding("old", "new", provider=InMemoryVectorMemory(embedder=embedder))
    embedder.calls.clear()
    assert block_of(define(provider), last_input="old") == '<memory name="notes">\n- new\n- old\n</memory>'
    assert embedder.calls == []


def test_ids_are_shown_where_the_model_may_forget():
    provider = InMemoryMemory(new_id=iter(["id-1", "id-2"]).__next__)
    holding("likes tea", "answers in French", provider=provider)
    slot = define(provider, expose={"forget": True})
    assert block_of(slot) == (
        '<memory name="notes">\n- answers in French (id: id-2)\n- likes tea (id: id-1)\n</memory>'
    )
    assert "id-1" not in block_of(define(provider))


def test_blocks_that_the_instructions_hold_already_are_replaced():
    slot = define(holding("likes tea"))
    old = 'Be brief.\n\n<memory name="notes">\n- old one\n- old two\n</memory>'
    assert blocking(MemoryRun([slot])).system_prompt(old) == (
        'Be brief.\n\n<memory name="notes">\n- likes tea\n</memory>'
    )


def test_blocks_of_other_slots_in_the_instructions_stay():
    slot = define(holding("likes tea"))
    other = 'Be brief.\n\n<memory name="others">\n- theirs\n</memory>'
    assert blocking(MemoryRun([slot])).system_prompt(other) == (
        f'{other}\n\n<memory name="notes">\n- likes tea\n</memory>'
    )


def test_slots_are_recalled_at_the_same_time():
    class Meeting(MinimalProvider):
        """Answers once both of its calls are there."""

        def __init__(self):
            super().__init__()
            self.both = asyncio.Barrier(2)

        async def list(self, scope_key, *, limit=None, query=None):
            await asyncio.wait_for(self.both.wait(), 5)
            return await super().list(scope_key, limit=limit, query=query)

    async def recall():
        provider = Meeting()
        await provider.add("one#global", "first")
        await provider.add("two#global", "second")
        return await MemoryRun([define(provider, "one"), define(provider, "two")]).block()

    assert asyncio.run(recall()) == (
        '<memory name="one">\n- first\n</memory>\n\n<memory name="two">\n- second\n</memory>'
    )
