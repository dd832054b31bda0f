"""The arguments of a memory tool as a pydantic model, for frameworks that want a class."""

import copy
from typing import Any

from pydantic import BaseModel, ConfigDict

from vectormem.slots.tools import MemoryTool


def arguments_model(tool: MemoryTool) -> type[BaseModel]:
    """Return a model with the tool's JSON Schema, which lets everything pass: the tool itself says what is wrong."""

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return copy.deepcopy(tool.input_schema)

    return Arguments
