"""Hooks beside those that an agent has already."""

import asyncio
import pickle

from vectormem.adapters.hooks import told_before


class Hooks:
    """Hooks as a framework defines them, that tell of each event."""

    def __init__(self, name, told):
        self.name, self.told = name, told

    async def on_start(self, run):
        self.told.append((self.name, "start", run))

    async def on_end(self, run, *, output):
        self.told.append((self.name, "end", run, output))

    def other(self):
        return self.name


def test_both_are_told_of_each_event_and_the_hooks_before_the_others():
    told = []
    hooks = told_before(Hooks("memory", told), Hooks("program", told))
    asyncio.run(hooks.on_start(7))
    asyncio.run(hooks.on_end(7, output="ok"))
    assert told == [
        ("memory", "start", 7),
        ("program", "start", 7),
        ("memory", "end", 7, "ok"),
        ("program", "end", 7, "ok"),
    ]


def test_the_others_stay_as_they_were_and_what_is_no_event_is_left_alone():
    told = []
    others = Hooks("program", told)
    hooks = told_before(Hooks("memory", told), others)
    asyncio.run(others.on_start(7))
    assert (told, hooks.other()) == ([("program", "start", 7)], "memory")


def test_hooks_can_be_pickled_where_those_that_they_are_made_of_can():
    told = told_before(Hooks("memory", []), Hooks("program", []))
    again = pickle.loads(pickle.dumps(told))
    asyncio.run(again.on_start(7))
    assert again.other() == "memory"
