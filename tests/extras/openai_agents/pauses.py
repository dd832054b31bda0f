"""Runs that pause, as they are written down and resumed."""

import asyncio

from agents import RunState

from tests.extras.openai_agents.play import (
    TEA,
    call,
    delete,
    remembering,
    run,
)

DELETE = call("delete", path="/a", _id="d1")
BLOCK = f"Be brief.\n\n{TEA}"


def pausing(slots, *steps, **options):
    return remembering(slots, *steps, tools=[delete], **options)


def as_text(result, agent, **options):
    """Return the state of a paused run after a trip through its text form."""
    state = result.to_state()
    return asyncio.run(RunState.from_string(agent, state.to_string(), **options))


def in_memory(result, agent, **options):
    return result.to_state()


def resume(state, agent, *, approve=True, **options):
    for item in state.get_interruptions():
        state.approve(item) if approve else state.reject(item)
    return run(agent, state, **options)
