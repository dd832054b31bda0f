"""Short ways to write an agent, its script and its memory, and to read what the model was shown."""

import asyncio

from agents import Agent, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from vectormem import InMemoryMemory, blocking, define_memory, memory_key
from vectormem.adapters.openai_agents import with_memory

TEA = '<memory name="notes">\n- The user likes tea.\n</memory>'
SLOT_TOOLS = ["remember_notes", "recall_notes"]


class Counting(InMemoryMemory):
    """A memory that counts what is asked of it; `failing` makes it fail."""

    def __init__(self):
        super().__init__()
        self.lists = []
        self.failing = None

    async def list(self, scope_key, *, limit=None, query=None):
        self.lists.append((scope_key, limit, query))
        if self.failing:
            raise self.failing
        await asyncio.sleep(0)
        return await super().list(scope_key, limit=limit, query=query)


def define(name="notes", scope="global", provider=None, **options):
    return define_memory(name=name, scope=scope, provider=provider or Counting(), **options)


def holding(*texts, context=None, **options):
    """Define a memory that holds these texts, the last one the newest."""
    slot = define(**options)
    add(slot, *texts or ["The user likes tea."], context=context)
    return slot


def add(slot, *texts, context=None):
    blocking(slot.provider).add_many(memory_key(slot, context), texts)


def texts_in(slot, context=None):
    return [item.text for item in blocking(slot.provider).list(memory_key(slot, context))]


def call(name, _id="c1", **arguments):
    return function_call(name, arguments, call_id=_id)


def script(*steps):
    """Return a model that says these texts, makes these calls and raises these errors; a list is one answer."""
    return ScriptedModel([step if isinstance(step, Exception) else _answer(step) for step in steps])


def _answer(step):
    parts = step if isinstance(step, list) else [step]
    return [assistant_message(part) if isinstance(part, str) else part for part in parts]


def agent_of(*steps, name="lead", instructions="Be brief.", **options):
    return Agent(name=name, instructions=instructions, model=script(*steps), **options)


def remembering(slots, *steps, memory=None, **options):
    return with_memory(agent_of(*steps, **options), slots, **memory or {})


def run(agent, text="hi", **options):
    return asyncio.run(Runner.run(agent, text, **options))


def prompts(agent):
    """What the model was given as instructions, call by call."""
    return [one.system_instructions for one in agent.model.calls]


def offered(agent):
    """The names of the tools that the model was offered, call by call."""
    return [[tool.name for tool in one.tools] for one in agent.model.calls]


def outputs(result):
    """What tools answered in a run, in order."""
    return [item["output"] for item in result.to_input_list() if item.get("type") == "function_call_output"]


@function_tool(needs_approval=True)
def delete(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"
