"""Memory and stored conversations for agents of pydantic-ai (extra `pydantic-ai`)."""

from vectormem.adapters.missing import missing_extra

try:
    from vectormem.adapters.pydantic_ai.conversations import SqliteConversations
    from vectormem.adapters.pydantic_ai.memory import AgentMemory
    from vectormem.adapters.pydantic_ai.runs import run_context
except ImportError as error:
    raise missing_extra("pydantic-ai", error) from error

__all__ = ["AgentMemory", "SqliteConversations", "run_context"]
