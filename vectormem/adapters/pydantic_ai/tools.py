"""The memory tools of a run as a toolset of pydantic-ai."""

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.tools import AgentDepsT, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from vectormem.errors import VectorMemError
from vectormem.slots.tools import MemoryTool

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(keys_schema=core_schema.str_schema()))
_RETRIES = 1_000  # bad JSON is answered, not counted: the run's own request limit ends a model that goes round


class Offers(Protocol):
    """Who knows which tools a run may call now."""

    id: str | None

    @property
    def offered(self) -> Sequence[MemoryTool]:
        """The tools."""


class MemoryToolset(AbstractToolset[AgentDepsT]):
    """Offers memory tools. What goes wrong in one is told to the model and never ends the run."""

    def __init__(self, memory: Offers) -> None:
        self._memory = memory

    @property
    def id(self) -> str | None:
        return self._memory.id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        return {
            tool.name: ToolsetTool(
                toolset=self, tool_def=_definition(tool), max_retries=_RETRIES, args_validator=_ANY_OBJECT
            )
            for tool in self._memory.offered
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> dict[str, Any]:
        called = next(one for one in self._memory.offered if one.name == name)
        try:
            return await called.call(tool_args)
        except VectorMemError as error:
            raise ToolFailed(str(error)) from error


def _definition(tool: MemoryTool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=tool.input_schema,
        metadata={"annotations": tool.annotations},
    )
