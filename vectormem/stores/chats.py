"""The messages of chats as a store keeps them: those of one scope key, read or changed as one whole."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol, TypeVar

from vectormem.index.array import Matrix, Vector
from vectormem.ranking.choice import Ranking
from vectormem.stores.rows import VectorKind

T = TypeVar("T")

CONTEXT_PART = -1
"""The part that stands for a message together with the one it answers; passages are 0, 1 and so on."""


class MessageDraft(NamedTuple):
    """A message without a place in the order. `metadata` is JSON text, `created_at` microseconds."""

    id: str
    conversation: str
    role: str
    content: str
    metadata: str | None
    created_at: int


class StoredMessage(NamedTuple):
    """A stored message. `seq` grows with each insertion; a conversation is in order of time, then seq."""

    seq: int
    id: str
    conversation: str
    role: str
    content: str
    metadata: str | None
    created_at: int


class StoredConversation(NamedTuple):
    """A conversation with the number of its messages and the times of the first and the last."""

    id: str
    messages: int
    first: int
    last: int


class Part(NamedTuple):
    """What has a vector of its own: characters `start` to `end` of a message, and the text to embed."""

    part: int
    start: int
    end: int
    text: str


class Filter(NamedTuple):
    """Which messages count, decided before any are chosen; None admits all."""

    conversation: str | None = None
    excluded_conversation: str | None = None
    roles: frozenset[str] | None = None


class ChatQuery(NamedTuple):
    """What to look for: words, a unit vector, or both, as `ranking` says."""

    ranking: Ranking
    terms: Sequence[str]
    vector: Vector | None
    limit: int
    min_similarity: float
    filter: Filter


class ChatHit(NamedTuple):
    """A found message, its cosine where it has a vector, and the characters of its best passage."""

    message: StoredMessage
    similarity: float | None
    start: int
    end: int


class ChatFound(NamedTuple):
    """Hits, best first, and how many messages with enough text have no vector to compare."""

    hits: list[ChatHit]
    skipped: int


class ChatRows(Protocol):
    """The messages of one scope key. Each method sees what the ones before it changed."""

    def get(self, message_id: str) -> StoredMessage | None:
        """Return the message with this id."""
        ...

    def by_seq(self, seqs: Sequence[int]) -> list[StoredMessage]:
        """Return the messages with these sequence numbers, in the order asked for; absent ones are left out."""
        ...

    def insert(self, draft: MessageDraft) -> StoredMessage:
        """Store a message as the newest. Its id must not be stored."""
        ...

    def replace(self, old: StoredMessage, draft: MessageDraft) -> StoredMessage:
        """Give a message another state. Its vectors, and the context vector of the next message, are deleted."""
        ...

    def delete(self, messages: Collection[StoredMessage]) -> None:
        """Delete messages with their words and vectors, and the context vectors of those that follow."""
        ...

    def conversation(self, name: str, limit: int | None = None) -> list[StoredMessage]:
        """Return the messages of a conversation in order; with `limit`, its last ones."""
        ...

    def conversations(self) -> list[StoredConversation]:
        """Return all conversations, that with the latest message first."""
        ...

    def before(self, message: StoredMessage, count: int = 1) -> list[StoredMessage]:
        """Return the messages of its conversation right before a message, in order."""
        ...

    def after(self, message: StoredMessage, count: int = 1) -> list[StoredMessage]:
        """Return the messages of its conversation right after a message, in order."""
        ...

    def pending(self, kind: VectorKind, shortest: int, *, with_context: bool, after: int, limit: int) -> Sequence[int]:
        """Return the oldest messages beyond seq `after` that lack a vector of this kind.

        Messages of fewer characters than `shortest` need none. Zero dimensions stand for any number.
        """
        ...

    def count_pending(self, kind: VectorKind, shortest: int, *, with_context: bool) -> int:
        """Return how many messages `pending` would return without a limit."""
        ...

    def embedders(self, shortest: int) -> dict[VectorKind | None, int]:
        """Return how many messages have vectors of each kind; under None, how many have none but need one."""
        ...

    def set_vectors(self, seq: int, embedder: str, parts: Sequence[Part], vectors: Matrix) -> None:
        """Replace the vectors of a message by those of its parts."""
        ...


class ChatStore(Protocol):
    """Where chats live."""

    async def read(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        """Return `work(rows)` on one consistent state of the scope key; `work` changes nothing."""
        ...

    async def change(self, scope_key: str, work: Callable[[ChatRows], T]) -> T:
        """Return `work(rows)`; all that it changed is stored together, or nothing where it fails."""
        ...

    async def search(self, scope_key: str, kind: VectorKind | None, shortest: int, query: ChatQuery) -> ChatFound:
        """Return the best messages, on one consistent state of the scope key."""
        ...

    async def scope_keys(self) -> Sequence[str]:
        """Return the scope keys that have or had chats, sorted."""
        ...

    async def aclose(self) -> None:
        """Release what the store itself opened."""
        ...
