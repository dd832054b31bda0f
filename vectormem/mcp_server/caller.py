"""Who calls, and the session that a call names: all that a scope is told of a client."""

from dataclasses import dataclass
from urllib.parse import quote

from vectormem.canonical import check_storable
from vectormem.errors import ToolInputError
from vectormem.slots.scope import MemoryContext

SESSION_ARGUMENT = "session_id"
LONGEST_SESSION_ID = 255


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request. `principal` is who they were proved to be; None where the server knows one user only."""

    principal: str | None = None

    def context(self, session_id: object = None) -> MemoryContext:
        """Return what scopes see of a call. Nothing that the client said of itself is in it but the session.

        A session belongs to its principal: no id that a client can send leads to the session of another.
        Raises ToolInputError for an id that is none, and MemoryInvalidError for one that no store can hold.
        """
        if session_id is None:
            return MemoryContext(principal=self.principal)
        return MemoryContext(session_id=self._own(_checked(session_id)), principal=self.principal)

    def _own(self, session_id: str) -> str:
        if self.principal is None:
            return session_id
        return f"{quote(self.principal, safe='')}:{quote(session_id, safe='')}"


def _checked(session_id: object) -> str:
    if not isinstance(session_id, str) or not session_id.strip() or len(session_id) > LONGEST_SESSION_ID:
        raise ToolInputError(f"{SESSION_ARGUMENT}: must be a text of 1 to {LONGEST_SESSION_ID} characters")
    return check_storable(session_id, SESSION_ARGUMENT)
