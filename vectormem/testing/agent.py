"""The smallest agent loop that keeps every rule of a run: a model of how to use `MemoryRun`."""

import copy
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vectormem.errors import MemoryInvalidError, VectorMemError
from vectormem.slots.define import MemorySlot
from vectormem.slots.run import MemoryRun
from vectormem.slots.scope import MemoryContext
from vectormem.slots.tools import MemoryTool, slot_tools
from vectormem.testing.model import Message, ScriptedModel, Turn


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of a run. `messages` and `paused` hold what was recalled: treat them as memory.

    `paused` is set, as JSON, where a tool call waits for an approval; `resume` takes it.
    """

    text: str
    messages: list[Message]
    paused: dict[str, Any] | None = None


class ScriptedAgent:
    """An agent with memory: recall before the first request, tools in each, one `MemoryRun` a run.

    `tools` are further tools. Calls of those in `needs_approval` pause the run; when it is resumed, what
    was recalled stays and no memory tool is offered. Raises MemoryInvalidError for a tool name that is
    used twice.
    """

    def __init__(
        self,
        model: ScriptedModel,
        *,
        memory: Sequence[MemorySlot],
        instructions: str = "",
        tools: Sequence[MemoryTool] = (),
        needs_approval: Collection[str] = (),
    ) -> None:
        _check_names(memory, tools)
        self.model = model
        self.memory = tuple(memory)
        self.instructions = instructions
        self.tools = {tool.name: tool for tool in tools}
        self.needs_approval = frozenset(needs_approval)
        self._sessions: dict[str, ScriptedSession] = {}

    async def send(
        self,
        text: str,
        *,
        session_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        principal: object = None,
    ) -> Result:
        """Run the agent on one message, without a transcript."""
        return await self._start(text, (), _context(session_id, metadata, principal))

    async def resume(
        self,
        paused: Mapping[str, Any],
        *,
        approved: bool = True,
        session_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        principal: object = None,
    ) -> Result:
        """Go on with a paused run, in the context in which it was started."""
        run = MemoryRun.restore(self.memory, _context(session_id, metadata, principal), paused["memory"])
        transcript = _without_system(copy.deepcopy(paused["messages"]))
        for call in paused["pending"]:
            transcript.append(await self._answer(run, call) if approved else _refused(call))
        return await self._loop(run, transcript, None)

    def session(self, id: str | None = None) -> "ScriptedSession":
        """Return the session with this id, the same one each time; without an id, a new one."""
        session_id = str(uuid.uuid4()) if id is None else id
        return self._sessions.setdefault(session_id, ScriptedSession(self, session_id))

    async def _start(self, text: str, history: Sequence[Message], context: MemoryContext) -> Result:
        run = MemoryRun(self.memory, context)
        return await self._loop(run, [*copy.deepcopy(history), {"role": "user", "content": text}], text)

    async def _loop(self, run: MemoryRun, transcript: list[Message], last_input: str | None) -> Result:
        while True:
            prompt = await run.system_prompt(self.instructions, last_input=last_input)
            system = [{"role": "system", "content": prompt}] if prompt else []
            turn = await self.model.respond([*system, *transcript], [*run.tools, *self.tools.values()])
            calls = _calls(turn, len(transcript))
            transcript.append(_assistant_message(turn, calls))
            pending = [call for call in calls if call["name"] in self.needs_approval]
            transcript += [await self._answer(run, call) for call in calls if call not in pending]
            if pending or not calls:
                return _result(run, turn, [*system, *transcript], pending)

    async def _answer(self, run: MemoryRun, call: Mapping[str, Any]) -> Message:
        tool = self.tools.get(call["name"])
        try:
            answer = await (tool.call(call["args"]) if tool else run.call(call["name"], call["args"]))
        except VectorMemError as error:
            return {**_reply(call, str(error)), "is_error": True}
        return _reply(call, json.dumps(answer, ensure_ascii=False))


class ScriptedSession:
    """A conversation. `messages` is its stored transcript, without memory blocks."""

    def __init__(self, agent: ScriptedAgent, id: str) -> None:
        self.id = id
        self.messages: list[Message] = []
        self._agent = agent

    async def send(self, text: str, *, metadata: Mapping[str, Any] | None = None, principal: object = None) -> Result:
        """Run the agent on the next message of the conversation."""
        return self._keep(await self._agent._start(text, self.messages, _context(self.id, metadata, principal)))

    async def resume(
        self,
        paused: Mapping[str, Any],
        *,
        approved: bool = True,
        metadata: Mapping[str, Any] | None = None,
        principal: object = None,
    ) -> Result:
        """Go on with the paused run of the conversation."""
        return self._keep(
            await self._agent.resume(
                paused, approved=approved, session_id=self.id, metadata=metadata, principal=principal
            )
        )

    def _keep(self, result: Result) -> Result:
        self.messages = _without_system(copy.deepcopy(result.messages))
        return result


def _check_names(memory: Sequence[MemorySlot], tools: Sequence[MemoryTool]) -> None:
    names = [slot.name for slot in memory]
    if len(set(names)) < len(names):
        raise MemoryInvalidError(f"two slots of this agent have one name: {names}")
    taken: set[str] = set()
    for tool in [*(tool for slot in memory for tool in slot_tools(slot, slot.name)), *tools]:
        if tool.name in taken:
            raise MemoryInvalidError(f"two tools of this agent are called {tool.name!r}; rename the slot or the tool")
        taken.add(tool.name)


def _context(session_id: str | None, metadata: Mapping[str, Any] | None, principal: object) -> MemoryContext:
    return MemoryContext(session_id=session_id, metadata=metadata or {}, principal=principal)


def _calls(turn: Turn, position: int) -> list[dict[str, Any]]:
    return [{"id": f"call_{position}_{n}", **call.model_dump()} for n, call in enumerate(turn.tool_calls)]


def _assistant_message(turn: Turn, calls: list[dict[str, Any]]) -> Message:
    return {"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}


def _reply(call: Mapping[str, Any], content: str) -> Message:
    return {"role": "tool", "tool_call_id": call["id"], "name": call["name"], "content": content}


def _refused(call: Mapping[str, Any]) -> Message:
    return {**_reply(call, "the call was not approved"), "is_error": True}


def _without_system(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message["role"] != "system"]


def _result(run: MemoryRun, turn: Turn, messages: list[Message], pending: list[dict[str, Any]]) -> Result:
    held = copy.deepcopy(messages)
    paused = {"memory": run.snapshot(), "messages": held, "pending": copy.deepcopy(pending)} if pending else None
    return Result(text=turn.text, messages=messages, paused=paused)
