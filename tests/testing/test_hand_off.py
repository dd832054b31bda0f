"""A hand-off: the target goes on with the lead's run, and its own slots are not used."""

import asyncio

from vectormem import InMemoryMemory, MemoryContext, MemoryRun, define_memory
from vectormem.testing import ScriptedModel


def test_the_target_of_a_hand_off_keeps_the_leads_blocks_tools_and_keys():
    provider = InMemoryMemory()
    slot = define_memory(name="notes", scope="session", provider=provider)
    lead, target = ScriptedModel(["Over to billing."]), ScriptedModel(["Hello."])

    async def scenario():
        await provider.add("notes#session:s1", "likes tea")
        run = MemoryRun([slot], MemoryContext(session_id="s1"))
        for model, instructions in ((lead, "You greet."), (target, "You bill.")):
            prompt = await run.system_prompt(instructions)
            await model.respond([{"role": "system", "content": prompt}], run.tools)
        await run.call("remember_notes", {"text": "asked for a bill"})
        return [item.text for item in await provider.list("notes#session:s1")]

    assert asyncio.run(scenario()) == ["asked for a bill", "likes tea"]
    block = '<memory name="notes">\n- likes tea\n</memory>'
    assert lead.calls[0].system == f"You greet.\n\n{block}"
    assert target.calls[0].system == f"You bill.\n\n{block}"
    assert target.calls[0].tools == lead.calls[0].tools
    assert [tool["name"] for tool in target.calls[0].tools] == ["remember_notes", "recall_notes"]
