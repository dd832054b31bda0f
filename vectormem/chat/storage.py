"""Chat memory: the stored messages are the memory, found again by meaning, by words or by both."""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Self, TypeAlias

from pydantic import JsonValue

from embedders import Embedder
from vectormem.chat import checks, rules
from vectormem.chat.checks import SortBy
from vectormem.chat.embedding import MessageEmbedder
from vectormem.chat.messages import ConversationSummary, Message, MessageMatch, match_of, message_of, summary_of
from vectormem.chat.tool import retrieval_tool
from vectormem.checks import check_id, check_limit, check_positive, check_query, check_scope_key, check_unit_interval
from vectormem.errors import EmbeddingError, MemoryInvalidError
from vectormem.origin import new_uuid, utc_now
from vectormem.providers.base import Progress
from vectormem.ranking.choice import Ranking, check_ranking
from vectormem.ranking.terms import query_terms
from vectormem.slots.tools import MemoryTool
from vectormem.stores.chats import ChatFound, ChatHit, ChatQuery, ChatStore, Filter, StoredMessage
from vectormem.stores.postgres.store import PostgresStore, is_dsn
from vectormem.stores.sqlite.chats import SqliteChats
from vectormem.stores.sqlite.store import SqliteStore

logger = logging.getLogger("vectormem")

StoreOrPath: TypeAlias = SqliteStore | PostgresStore | str | os.PathLike[str]

_SAVED_AT_ONCE = 500


class ChatStorage:
    """The conversations of one scope key; no verb sees those of another.

    Messages are stored first and embedded then: an embedder that fails costs a warning, never a message,
    and `embed_pending` catches up. Messages of fewer than `min_content_length` characters are stored and
    not embedded. `ranking` says what a search goes by: "vector" (meaning), "keyword" (words, no query is
    embedded) or "hybrid" (both, and what stands around a message). Every verb raises MemoryInvalidError
    for a wrong argument and StorageFailedError where the store fails. A path, or a DSN of Postgres, in
    place of the store is opened, and closed by `aclose`.
    """

    def __init__(
        self,
        store: StoreOrPath,
        *,
        embedder: Embedder,
        scope_key: str = "global",
        auto_embed_messages: bool = True,
        min_content_length: int = 10,
        ranking: Ranking = "vector",
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_uuid,
    ) -> None:
        self.scope_key = check_scope_key(scope_key)
        self.embedder = embedder
        self.auto_embed_messages = bool(auto_embed_messages)
        self.min_content_length = checks.check_count(min_content_length, "min_content_length")
        self.ranking = check_ranking(ranking)
        self._clock = clock
        self._new_id = new_id
        self._warned = False
        self._shortest = max(1, self.min_content_length)
        self._store = _chats(store)
        self._embedding = MessageEmbedder(
            self._store, self.scope_key, embedder, shortest=self._shortest, with_context=ranking == "hybrid"
        )

    async def save_message(
        self,
        conversation_id: str,
        role: str,
        content: str,
        *,
        id: str | None = None,
        created_at: datetime | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> Message:
        """Store a message, embed it, and return it.

        An id that is stored with the same content gives the stored message as it is; with other content
        the message is replaced, keeping its time unless `created_at` is given, and embedded again.
        """
        moment = self._clock() if created_at is None else created_at
        draft = checks.check_draft(
            self._new_id() if id is None else id, conversation_id, role, content, moment, metadata
        )
        saved = await self._store.change(
            self.scope_key, partial(rules.save, draft=draft, keeps_time=created_at is None)
        )
        if self.auto_embed_messages:
            await self._embed_or_warn(saved.seqs)
        return message_of(saved.message)

    async def save_many(self, messages: Iterable[Message], *, on_progress: Progress | None = None) -> int:
        """Store messages with their ids and times, as an import does; return how many were new or changed.

        They are stored 500 at a time, and then embedded in batches. Ids work as in `save_message`.
        """
        drafts = [
            checks.check_draft(one.id, one.conversation_id, one.role, one.content, one.created_at, one.metadata)
            for one in messages
        ]
        changed = 0
        for start in range(0, len(drafts), _SAVED_AT_ONCE):
            chunk = drafts[start : start + _SAVED_AT_ONCE]
            saved = await self._store.change(self.scope_key, partial(rules.save_all, drafts=chunk))
            changed += sum(one.changed for one in saved)
            if self.auto_embed_messages:
                await self._embed_or_warn(list(dict.fromkeys(seq for one in saved for seq in one.seqs)))
            if on_progress:
                on_progress(start + len(chunk), len(drafts))
        return changed

    async def messages(self, conversation_id: str, *, limit: int | None = None) -> Sequence[Message]:
        """Return the messages of a conversation, oldest first; with `limit`, the last ones of it."""
        name, most = checks.check_conversation_id(conversation_id), check_limit(limit)
        found = await self._store.read(self.scope_key, lambda rows: rows.conversation(name, most))
        return list(map(message_of, found))

    async def conversations(self) -> Sequence[ConversationSummary]:
        """Return all conversations, that with the latest message first."""
        found = await self._store.read(self.scope_key, lambda rows: rows.conversations())
        return list(map(summary_of, found))

    async def delete_conversation(self, id: str) -> int:
        """Delete a conversation with its texts, words and vectors; return how many messages it had."""
        name = checks.check_conversation_id(id)
        return await self._store.change(self.scope_key, lambda rows: rules.delete(rows, rows.conversation(name)))

    async def delete_message(self, id: str) -> bool:
        """Delete a message with its words and vectors; return False where there is none with this id."""
        message_id = check_id(id)
        return await self._store.change(
            self.scope_key, lambda rows: rules.delete(rows, [one] if (one := rows.get(message_id)) else []) > 0
        )

    async def embed_pending(self, on_progress: Progress | None = None) -> int:
        """Embed what has no vector of this embedder yet; return how many messages.

        Each batch is stored on its own, so what is done stays done where the embedder fails
        (EmbeddingError) or the process ends. Vectors of another embedder are replaced.
        """
        return await self._embedding.embed_pending(on_progress)

    async def search_messages(
        self,
        query: str,
        *,
        limit: int = 8,
        min_similarity: float = 0.3,
        exclude_conversation_id: str | None = None,
        conversation_id: str | None = None,
        roles: Collection[str] | None = None,
        sort_by: SortBy = "similarity",
        context: int = 0,
    ) -> Sequence[MessageMatch]:
        """Return the up to `limit` best matches among all messages that the other options admit.

        `min_similarity` (a cosine from 0 to 1, inclusive) holds for "vector" and "hybrid"; hybrid also
        admits a message that shares a word of the query that at most one message in twenty has.
        "chronological" gives the same matches, oldest first. `context` adds that many messages before and
        after each match. Raises EmbeddingError where the query cannot be embedded.
        """
        text = check_query(query)
        if text is None:
            raise MemoryInvalidError("a search query is required: it must not be blank")
        order, around = checks.check_sort_by(sort_by), checks.check_count(context, "context")
        wanted = ChatQuery(
            self.ranking,
            [] if self.ranking == "vector" else query_terms(text),
            None,
            check_positive(limit, "limit"),
            check_unit_interval(min_similarity, "min_similarity", lowest=0),
            Filter(
                checks.check_optional_name(conversation_id, "conversation_id"),
                checks.check_optional_name(exclude_conversation_id, "exclude_conversation_id"),
                checks.check_roles(roles),
            ),
        )
        hits = (await self._find(text, wanted)).hits
        if order == "chronological":
            hits = sorted(hits, key=lambda hit: (hit.message.created_at, hit.message.seq))
        return await self._matches(hits, around)

    def create_memory_retrieval_tool(
        self,
        *,
        limit: int = 8,
        min_similarity: float = 0.3,
        exclude_conversation_id: str | None = None,
        roles: Collection[str] | None = None,
        sort_by: SortBy = "similarity",
    ) -> MemoryTool:
        """Return a tool `search_memory` with which a model searches these messages; it never raises.

        The options are those of `search_messages`; the model may choose another `limit` (up to 50) and
        order for a call. Exclude the conversation that goes on: the model sees it anyway.
        """
        check_positive(limit, "limit")
        check_unit_interval(min_similarity, "min_similarity", lowest=0)
        wanted_roles = checks.check_roles(roles)
        excluded = checks.check_optional_name(exclude_conversation_id, "exclude_conversation_id")

        async def search(query: str, limit: int, sort_by: SortBy) -> Sequence[MessageMatch]:
            return await self.search_messages(
                query,
                limit=limit,
                min_similarity=min_similarity,
                exclude_conversation_id=excluded,
                roles=wanted_roles,
                sort_by=sort_by,
            )

        return retrieval_tool(search, limit, checks.check_sort_by(sort_by))

    async def aclose(self) -> None:
        """Close the store where this storage opened it; one that was passed in stays open."""
        await self._store.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"ChatStorage(scope_key={self.scope_key!r}, embedder={self.embedder.id!r}, ranking={self.ranking!r})"

    async def _embed_or_warn(self, seqs: Sequence[int]) -> None:
        try:
            await self._embedding.embed(seqs)
        except EmbeddingError as error:
            logger.warning(
                "chats of %r: stored, but not embedded yet; embed_pending() catches up: %s",
                self.scope_key,
                error,
            )

    async def _find(self, text: str, query: ChatQuery) -> ChatFound:
        kind = None
        if self.ranking != "keyword":
            query = query._replace(vector=await self._embedding.query(text))
            kind = self._embedding.kind
        found = await self._store.search(self.scope_key, kind, self._shortest, query)
        if found.skipped and not self._warned:
            await self._warn_of_skipped(found.skipped)
        return found

    async def _warn_of_skipped(self, skipped: int) -> None:
        counts = await self._store.read(self.scope_key, lambda rows: rows.embedders(self._shortest))
        others = [
            f"{count} without a vector" if kind is None else f"{count} of {kind.embedder!r} ({kind.dimensions} d)"
            for kind, count in counts.items()
            if kind != self._embedding.kind
        ]
        if not others:  # they are embedded or gone by now
            return
        self._warned = True
        logger.warning(
            "chats of %r: searches skip %d messages that %r (%d d) has not embedded: %s; embed_pending() adds them",
            self.scope_key,
            skipped,
            *self._embedding.kind,
            ", ".join(others),
        )

    async def _matches(self, hits: Sequence[ChatHit], around: int) -> Sequence[MessageMatch]:
        contexts: Sequence[Sequence[StoredMessage]] = [()] * len(hits)
        if around and hits:
            contexts = await self._store.read(
                self.scope_key, lambda rows: [rules.around(rows, hit.message, around) for hit in hits]
            )
        return [match_of(hit, context) for hit, context in zip(hits, contexts, strict=True)]


def _chats(store: object) -> ChatStore:
    if isinstance(store, PostgresStore) or is_dsn(store):
        return _postgres_chats(store)
    if isinstance(store, SqliteStore):
        return SqliteChats(store, owned=False)
    if isinstance(store, str | os.PathLike):
        return SqliteChats(SqliteStore(store), owned=True)
    raise MemoryInvalidError(f"store must be a SqliteStore, a PostgresStore or a path, not {store!r}")


def _postgres_chats(store: object) -> ChatStore:
    opened = store if isinstance(store, PostgresStore) else PostgresStore(str(store))
    from vectormem.stores.postgres.chats import PostgresChats

    return PostgresChats(opened, owned=opened is not store)
