"""Runs that a framework gives no name: found by what it shows of them, and after a pause by a fingerprint."""

import asyncio
import gc

import pytest

from embedders import HashEmbedder
from vectormem import ChatStorage, InMemoryMemory, MemoryContext, blocking, define_memory
from vectormem.adapters.attachment import AttachedMemory, Attachment
from vectormem.adapters.live_runs import LiveRuns
from vectormem.adapters.run_sessions import note_session, session_of

HI = [{"role": "user", "content": "hi"}]


class Shown:
    """What a framework shows of a run."""

    def __init__(self, *calls, messages=HI, user="ada"):
        self.calls = dict.fromkeys(calls)
        self.messages = messages
        self.user = user


def memory(*texts, scope=lambda context: f"user:{context.principal}", **options):
    slot = define_memory(name="notes", scope=scope, provider=InMemoryMemory())
    add(slot, *texts)
    attachment = Attachment([slot], **options)
    return AttachedMemory(attachment, lambda run: MemoryContext(session_id=session_of(run), principal=run.user))


def add(slot, *texts, key="notes#user:ada"):
    blocking(slot.provider).add_many(key, texts)


def begin(runs, shown, memory, *, is_started=False):
    if is_started:
        runs.note_start(shown.calls)
    return runs.of(shown, memory, messages=shown.messages, calls=shown.calls)


def block_of(run):
    return asyncio.run(run.system_prompt(None))


def paused(runs, memory, *calls, **options):
    """Let a run recall, make these calls and pause; forget what was shown of it."""
    shown = Shown(**options)
    block_of(begin(runs, shown, memory))
    shown.calls.update(dict.fromkeys(calls))
    runs.keep(shown)


@pytest.fixture
def runs():
    return LiveRuns()


def test_a_run_is_begun_once_and_found_by_what_is_shown_of_it(runs):
    shown, tea = Shown(), memory()
    run = begin(runs, shown, tea)
    assert begin(runs, shown, tea) is run
    assert runs.get(shown) is run
    assert begin(runs, Shown(), tea) is not run


def test_nothing_of_a_run_stays_when_what_was_shown_of_it_is_gone(runs):
    begin(runs, Shown(), memory())
    gc.collect()
    assert len(runs._live) == 0


def test_a_run_that_ends_is_returned_and_forgotten(runs):
    shown, other, tea = Shown("c1"), Shown("c2"), memory()
    run, rest = (begin(runs, one, tea, is_started=True) for one in (shown, other))
    runs.keep(shown)
    assert runs.end(lambda one: one is shown) is run
    assert runs.end(lambda one: one is shown) is None
    assert (runs.get(shown), runs.get(other), list(runs._paused)) == (None, rest, [])


def test_a_run_that_was_paused_goes_on_with_the_same_block_and_without_tools(runs):
    tea = memory("Likes tea.")
    paused(runs, tea, "c1")
    add(tea.attachment.slots[0], "Lives in Oslo.")
    run = begin(runs, Shown("c1"), tea)
    assert block_of(run) == '<memory name="notes">\n- Likes tea.\n</memory>'
    assert run.attached.tools == []


@pytest.mark.parametrize(
    "other", [Shown("c2"), Shown("c1", "c2"), Shown("c1", messages=[{"role": "user", "content": "ho"}])]
)
def test_a_run_with_other_calls_or_messages_takes_nothing_of_it_and_recalls_anew(runs, other):
    tea = memory("Likes tea.")
    paused(runs, tea, "c1")
    add(tea.attachment.slots[0], "Lives in Oslo.")
    run = begin(runs, other, tea)
    assert "Lives in Oslo." in block_of(run)
    assert run.attached.tools == []


def test_of_runs_that_are_alike_each_user_gets_their_own(runs):
    tea = memory("I am Ada.")
    add(tea.attachment.slots[0], "I am Bob.", key="notes#user:bob")
    for user in ("ada", "bob"):
        paused(runs, tea, "c1", user=user)
    blocks = [block_of(begin(runs, Shown("c1", user=user), tea)) for user in ("ada", "bob", "eve")]
    assert blocks == [*(f'<memory name="notes">\n- I am {user}.\n</memory>' for user in ("Ada", "Bob")), ""]


def test_a_run_that_goes_on_is_in_the_session_in_which_it_paused(runs):
    tea = memory(scope="session")
    shown = Shown("c1")
    note_session(shown, "monday")
    begin(runs, shown, tea, is_started=True)
    runs.keep(shown)
    resumed = Shown("c1")
    assert begin(runs, resumed, tea).attached.context.session_id == "monday"
    assert session_of(resumed) == "monday"


def test_a_run_whose_pause_is_not_found_is_in_no_session(runs):
    tea = memory()
    shown = Shown("c1")
    note_session(shown, "monday")
    begin(runs, shown, tea, is_started=True)
    runs.keep(shown)
    other = Shown("c1", user="bob")
    assert begin(runs, other, tea).attached.context.session_id is None
    assert session_of(other) is None


def test_a_run_with_calls_whose_start_was_noted_is_no_paused_one(runs):
    tea = memory()
    shown = Shown("c1")
    assert [tool.name for tool in begin(runs, shown, tea, is_started=True).attached.tools] == [
        "remember_notes",
        "recall_notes",
    ]
    assert begin(runs, Shown("c1"), tea).attached.tools == []


def test_a_start_counts_for_its_own_run_though_another_has_equal_calls(runs):
    started, resumed = Shown("c1"), Shown("c1")
    runs.note_start(started.calls)
    assert begin(runs, resumed, memory()).attached.tools == []
    assert len(begin(runs, started, memory()).attached.tools) == 2


def test_a_paused_run_without_messages_is_only_looked_at(runs):
    shown = Shown("c1", messages=[])
    assert begin(runs, shown, memory()) is None
    assert runs.get(shown) is None


def test_what_is_kept_is_dropped_when_the_run_goes_on(runs):
    shown = Shown("c1")
    begin(runs, shown, memory(), is_started=True)
    runs.keep(shown)
    runs.drop(shown)
    assert list(runs._paused) == []


def test_a_state_may_be_resumed_again_until_its_run_pauses_or_ends(runs):
    tea = memory("Likes tea.")
    paused(runs, tea, "c1")
    resumed = Shown("c1")
    begin(runs, resumed, tea)
    runs.drop(resumed)
    assert [set(one.calls) for one in runs._paused] == [{"c1"}]
    resumed.calls["c2"] = None
    runs.keep(resumed)
    assert [set(one.calls) for one in runs._paused] == [{"c1", "c2"}]


def test_to_keep_or_drop_a_run_that_has_not_begun_does_nothing(runs):
    runs.keep(Shown("c1"))
    runs.drop(Shown("c1"))
    assert list(runs._paused) == []


def test_the_newest_thousand_paused_runs_are_kept(runs):
    tea = memory()
    for number in range(1001):
        paused(runs, tea, f"c{number}")
    assert [len(runs._paused), *runs._paused[0].calls] == [1000, "c1"]


def test_a_run_lacks_its_block_until_it_was_put_into_messages(runs):
    run = begin(runs, Shown(), memory("Likes tea.", placement="user"))
    assert run.lacks_block
    assert [one["role"] for one in asyncio.run(run.messages(HI))] == ["user", "user"]
    assert not run.lacks_block


def test_a_run_whose_block_stands_in_the_instructions_lacks_none(runs):
    assert not begin(runs, Shown(), memory()).lacks_block


def test_what_was_said_in_a_run_is_recorded(runs):
    async def main():
        async with ChatStorage(":memory:", embedder=HashEmbedder()) as chat:
            shown = Shown(messages=[*HI, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "tea?"}])
            note_session(shown, "monday")
            await begin(runs, shown, memory(chat=chat)).record("Green.")
            return [(one.role, one.content) for one in await chat.messages("monday")]

    assert asyncio.run(main()) == [("user", "tea?"), ("assistant", "Green.")]


def test_the_session_of_a_run_is_remembered_while_what_is_shown_of_it_is_there():
    run, other = Shown(), Shown()
    note_session(run, "monday")
    note_session(None, "tuesday")
    assert (session_of(run), session_of(other)) == ("monday", None)
    note_session(run, None)
    assert session_of(run) is None
