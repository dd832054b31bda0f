"""The memory service of Google's ADK: what was said in the sessions of each user, in a chat storage."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from vectormem.adapters.missing import missing_extra
from vectormem.chat.messages import MessageMatch
from vectormem.chat.storage import ChatStorage
from vectormem.checks import check_id
from vectormem.errors import MemoryInvalidError
from vectormem.slots.scope import MemoryContext

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part
except ImportError as error:
    raise missing_extra("google-adk", error) from error

ChatOf: TypeAlias = Callable[[MemoryContext], ChatStorage]


class ChatMemoryService(BaseMemoryService):
    """Keeps sessions as conversations; `chat` gives the storage of a context, whose principal is the user's id.

    Raises MemoryInvalidError for a storage in place of the function: all users would share it.
    """

    def __init__(self, chat: ChatOf, *, limit: int = 10, min_similarity: float = 0.3) -> None:
        if not callable(chat):
            raise MemoryInvalidError(
                f"chat must be a function of the context, not {chat!r}, which all users would share"
            )
        self._chat = chat
        self._options: Any = {"limit": limit, "min_similarity": min_similarity}

    async def add_session_to_memory(self, session: Session) -> None:
        """Store what was said in a session; what is stored already stays as it is."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self, *, app_name: str, user_id: str, events: Sequence[Event], session_id: str | None = None, **_: Any
    ) -> None:
        """Store what was said in some events."""
        chat = self._chat(_context(app_name, user_id, session_id))
        for event, text in _said(events):
            moment = datetime.fromtimestamp(event.timestamp, UTC)
            role = "user" if event.author == "user" else "assistant"
            conversation_id = session_id or event.invocation_id
            await chat.save_message(conversation_id, role, text, id=event.id, created_at=moment)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the messages of this user that match, best first."""
        chat = self._chat(_context(app_name, user_id))
        found = await chat.search_messages(query, **self._options) if query.strip() else []
        return SearchMemoryResponse(memories=[_entry(match) for match in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete one message of this user. Raises MemoryInvalidError without an id."""
        await self._chat(_context(app_name, user_id)).delete_message(check_id(memory_id))


def _context(app_name: str, user_id: str, session_id: str | None = None) -> MemoryContext:
    return MemoryContext(session_id=session_id, principal=user_id, metadata={"app_name": app_name})


def _said(events: Sequence[Event]) -> list[tuple[Event, str]]:
    return [(event, text) for event in events if not event.partial and (text := text_of(event.content)).strip()]


def _entry(match: MessageMatch) -> MemoryEntry:
    message = match.message
    return MemoryEntry(
        content=Content(role="user" if message.role == "user" else "model", parts=[Part(text=match.text)]),
        id=message.id,
        author=message.role,
        timestamp=message.created_at.isoformat(),
        custom_metadata={"session_id": message.conversation_id, "similarity": match.similarity},
    )


def text_of(content: Content | None) -> str:
    """Return what is said in a content, without thoughts."""
    parts = content.parts or [] if content else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)
