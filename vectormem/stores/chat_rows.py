"""The messages of one scope key in an SQL database, inside one transaction, whichever database it is."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from vectormem.index.array import Matrix
from vectormem.index.messages import MessageFacts
from vectormem.ranking.messages import asks
from vectormem.ranking.terms import telling_terms, terms
from vectormem.stores.chats import (
    CONTEXT_PART,
    ChatRows,
    MessageDraft,
    Part,
    StoredConversation,
    StoredMessage,
)
from vectormem.stores.rows import VectorKind

_COLUMNS = "m.seq, m.id, c.name, m.role, m.content, m.metadata, m.created_at"
_SELECT = f"SELECT {_COLUMNS} FROM chat_messages AS m JOIN chat_conversations AS c ON c.id=m.conversation"
_MOST_PARAMETERS = 500
_NO_LIMIT = 2**62
_FACTS = (
    "SELECT m.seq, c.name, m.role, m.created_at, m.length, m.words, m.asks FROM chat_messages AS m"
    " JOIN chat_conversations AS c ON c.id=m.conversation WHERE m.key_id=? AND m.version>? ORDER BY m.seq"
)
_VECTORS = (
    "SELECT v.seq, v.part, v.embedding FROM chat_messages AS m CROSS JOIN chat_vectors AS v"
    " ON v.key_id=m.key_id AND v.seq=m.seq WHERE m.key_id=? AND m.version>?"
    " AND v.embedder_id=? AND length(v.embedding)=?"
)


class Database(Protocol):
    """A transaction that runs SQL with `?` for each value; in a change, no other one changes the key meanwhile."""

    def query(self, sql: str, *values: Any) -> Iterable[Any]:
        """Return the rows of a query."""
        ...

    def run(self, sql: str, *values: Any) -> None:
        """Run a statement that returns nothing."""
        ...

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run an INSERT ... VALUES(?, ...) for each row of values."""
        ...


class Passage(NamedTuple):
    """A passage of a message with its vector, float32 as it is stored."""

    start: int
    end: int
    vector: bytes


class SqlChatRows(ChatRows):
    """Messages by (key, seq). `finish` writes the key's counters at the end of a change."""

    def __init__(self, database: Database, scope_key: str) -> None:
        self.database = database
        self.scope_key = scope_key
        found = self._one("SELECT id, last_seq, version, last_deletion FROM chat_keys WHERE key=?", scope_key)
        counters: tuple[int, int, int, int] = found or (0, 0, 0, 0)
        self.key_id, self._last_seq, self.version, self.last_deletion = counters
        self._changed = False

    def get(self, message_id: str) -> StoredMessage | None:
        return next(iter(self._select("m.key_id=? AND m.id=?", self.key_id, message_id)), None)

    def by_seq(self, seqs: Sequence[int]) -> list[StoredMessage]:
        found: dict[int, StoredMessage] = {}
        for start in range(0, len(seqs), _MOST_PARAMETERS):
            chunk = seqs[start : start + _MOST_PARAMETERS]
            condition = f"m.key_id=? AND m.seq IN ({','.join('?' * len(chunk))})"
            found |= {message.seq: message for message in self._select(condition, self.key_id, *chunk)}
        return [found[seq] for seq in seqs if seq in found]

    def insert(self, draft: MessageDraft) -> StoredMessage:
        self._change()
        self._last_seq += 1
        message = StoredMessage(self._last_seq, *draft)
        self._write(message)
        self._drop_context(self.after(message))
        return message

    def replace(self, old: StoredMessage, draft: MessageDraft) -> StoredMessage:
        self._forget([old])
        message = StoredMessage(old.seq, *draft)
        self._write(message)
        self._drop_context(self.after(message))
        return message

    def delete(self, messages: Collection[StoredMessage]) -> None:
        if not messages:
            return
        self._forget(messages)
        self.last_deletion = self.version + 1
        for name in {message.conversation for message in messages}:
            self._run(
                "DELETE FROM chat_conversations WHERE key_id=? AND name=?"
                " AND NOT EXISTS (SELECT 1 FROM chat_messages WHERE conversation=chat_conversations.id)",
                self.key_id,
                name,
            )

    def conversation(self, name: str, limit: int | None = None) -> list[StoredMessage]:
        order = "c.key_id=? AND c.name=? ORDER BY m.created_at DESC, m.seq DESC LIMIT ?"
        return self._select(order, self.key_id, name, _NO_LIMIT if limit is None else limit)[::-1]

    def conversations(self) -> list[StoredConversation]:
        found = self._all(
            "SELECT c.name, count(*), min(m.created_at), max(m.created_at) AS last FROM chat_conversations AS c"
            " JOIN chat_messages AS m ON m.conversation=c.id WHERE c.key_id=? GROUP BY c.id"
            " ORDER BY last DESC, c.id DESC",
            self.key_id,
        )
        return [StoredConversation(*row) for row in found]

    def before(self, message: StoredMessage, count: int = 1) -> list[StoredMessage]:
        return self._beside(message, "<", "DESC", count)[::-1]

    def after(self, message: StoredMessage, count: int = 1) -> list[StoredMessage]:
        return self._beside(message, ">", "ASC", count)

    def pending(self, kind: VectorKind, shortest: int, *, with_context: bool, after: int, limit: int) -> Sequence[int]:
        condition, values = self._pending(kind, shortest, with_context)
        sql = f"SELECT m.seq FROM chat_messages AS m WHERE {condition} AND m.seq>? ORDER BY m.seq LIMIT ?"
        return [seq for (seq,) in self._all(sql, *values, after, limit)]

    def count_pending(self, kind: VectorKind, shortest: int, *, with_context: bool) -> int:
        condition, values = self._pending(kind, shortest, with_context)
        return int(self._one(f"SELECT count(*) FROM chat_messages AS m WHERE {condition}", *values)[0])

    def embedders(self, shortest: int) -> dict[VectorKind | None, int]:
        found = self._all(
            "SELECT name, length(embedding) / 4, count(DISTINCT seq) FROM chat_vectors JOIN memory_embedders"
            " ON memory_embedders.id=embedder_id WHERE key_id=? GROUP BY 1, 2",
            self.key_id,
        )
        counts: dict[VectorKind | None, int] = {VectorKind(name, length): count for name, length, count in found}
        bare = self.count_pending(VectorKind("", 0), shortest, with_context=False) - sum(counts.values())
        return {**counts, None: bare} if bare > 0 else counts

    def set_vectors(self, seq: int, embedder: str, parts: Sequence[Part], vectors: Matrix) -> None:
        self._change()
        self._delete("DELETE FROM chat_vectors WHERE key_id=? AND seq=?", self.key_id, seq)
        embedder_id = (
            self.embedder_id(embedder)
            or self._one("INSERT INTO memory_embedders(name) VALUES(?) RETURNING id", embedder)[0]
        )
        self.database.run_many(
            'INSERT INTO chat_vectors(key_id, seq, part, start, "end", embedder_id, embedding) VALUES(?,?,?,?,?,?,?)',
            (
                (self.key_id, seq, part.part, part.start, part.end, embedder_id, vector.astype("<f4").tobytes())
                for part, vector in zip(parts, vectors, strict=True)
            ),
        )
        self._mark_changed([seq])

    def posting(self, word: str) -> list[tuple[int, int]]:
        """Return the messages that hold a word, by seq, and how often each does."""
        return self._all("SELECT seq, count FROM chat_words WHERE key_id=? AND word=?", self.key_id, word)

    def passages(self, seq: int, kind: VectorKind) -> list[Passage]:
        """Return the passages of a message that have vectors of this kind."""
        found = self._all(
            'SELECT start, "end", embedding FROM chat_vectors WHERE key_id=? AND seq=? AND part>=0'
            " AND embedder_id=? AND length(embedding)=? ORDER BY part",
            self.key_id,
            seq,
            self.embedder_id(kind.embedder),
            kind.dimensions * 4,
        )
        return list(map(Passage._make, found))

    def facts(self, version: int) -> list[MessageFacts]:
        """Return the messages that were stored, or got their vectors, after this version."""
        return list(map(MessageFacts._make, self.database.query(_FACTS, self.key_id, version)))

    def vectors(self, version: int, kind: VectorKind) -> Iterable[tuple[int, int, bytes]]:
        """Return the vectors of those messages with their seqs and parts."""
        values = (self.key_id, version, self.embedder_id(kind.embedder), kind.dimensions * 4)
        return self.database.query(_VECTORS, *values)

    def finish(self) -> None:
        """Write the key's counters."""
        if self._changed:
            self._run(
                "UPDATE chat_keys SET last_seq=?, version=?, last_deletion=? WHERE id=?",
                self._last_seq,
                self.version + 1,
                self.last_deletion,
                self.key_id,
            )

    def _pending(self, kind: VectorKind, shortest: int, with_context: bool) -> tuple[str, tuple[Any, ...]]:
        """Return the condition on messages that lack a vector, and its values."""
        parts = (0, CONTEXT_PART) if with_context else (0,)
        has_one = (
            "EXISTS (SELECT 1 FROM chat_vectors AS v WHERE v.key_id=m.key_id AND v.seq=m.seq AND v.part={part}"
            " AND v.embedder_id=?{size})"
        )
        size = " AND length(v.embedding)=?" if kind.dimensions else ""
        lacking = " OR ".join("NOT " + has_one.format(part=part, size=size) for part in parts)
        values = [self.embedder_id(kind.embedder), *([kind.dimensions * 4] if kind.dimensions else [])]
        return f"m.key_id=? AND m.length>=? AND ({lacking})", (self.key_id, shortest, *values * len(parts))

    def _write(self, message: StoredMessage) -> None:
        counts = Counter(terms(message.content))
        self._run(
            "INSERT INTO chat_messages(key_id, seq, id, conversation, role, content, metadata, created_at, length,"
            " words, asks, version) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
            self.key_id,
            message.seq,
            message.id,
            self._conversation_id(message.conversation),
            *message[3:],
            len(message.content.strip()),
            len(telling_terms(message.content)),
            int(asks(message.content)),
            self.version + 1,
        )
        self.database.run_many(
            "INSERT INTO chat_words(key_id, word, seq, count) VALUES(?,?,?,?)",
            ((self.key_id, word, message.seq, count) for word, count in counts.items()),
        )

    def _forget(self, messages: Iterable[StoredMessage]) -> None:
        """Delete rows of messages, and what was made of their text."""
        self._change()
        for message in messages:
            self._drop_context(self.after(message))
            for table in ("chat_vectors", "chat_words", "chat_messages"):
                self._delete(f"DELETE FROM {table} WHERE key_id=? AND seq=?", self.key_id, message.seq)

    def _drop_context(self, messages: Iterable[StoredMessage]) -> None:
        sql = "DELETE FROM chat_vectors WHERE key_id=? AND seq=? AND part=?"
        for message in messages:
            if self._delete(sql, self.key_id, message.seq, CONTEXT_PART):
                self._mark_changed([message.seq])

    def _mark_changed(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            self._run("UPDATE chat_messages SET version=? WHERE key_id=? AND seq=?", self.version + 1, self.key_id, seq)

    def _beside(self, message: StoredMessage, side: str, direction: str, count: int) -> list[StoredMessage]:
        return self._select(
            f"c.key_id=? AND c.name=? AND (m.created_at, m.seq) {side} (?, ?)"
            f" ORDER BY m.created_at {direction}, m.seq {direction} LIMIT ?",
            self.key_id,
            message.conversation,
            message.created_at,
            message.seq,
            count,
        )

    def _change(self) -> None:
        """Note that something changes, and give the key a number where it is new."""
        self._changed = True
        if not self.key_id:
            sql = "INSERT INTO chat_keys(key, last_seq, version, last_deletion) VALUES(?,0,0,0) RETURNING id"
            self.key_id = int(self._one(sql, self.scope_key)[0])

    def _conversation_id(self, name: str) -> int:
        found = self._one("SELECT id FROM chat_conversations WHERE key_id=? AND name=?", self.key_id, name)
        sql = "INSERT INTO chat_conversations(key_id, name) VALUES(?,?) RETURNING id"
        return int((found or self._one(sql, self.key_id, name))[0])

    def embedder_id(self, name: str) -> int:
        found = self._one("SELECT id FROM memory_embedders WHERE name=?", name)
        return 0 if found is None else int(found[0])

    def _select(self, condition: str, *values: Any) -> list[StoredMessage]:
        return list(map(StoredMessage._make, self.database.query(f"{_SELECT} WHERE {condition}", *values)))

    def _run(self, sql: str, *values: Any) -> None:
        self.database.run(sql, *values)

    def _delete(self, sql: str, *values: Any) -> bool:
        """Run a DELETE and return whether there was anything to delete."""
        return bool(self._all(f"{sql} RETURNING seq", *values))

    def _one(self, sql: str, *values: Any) -> Any:
        return next(iter(self._all(sql, *values)), None)

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return list(self.database.query(sql, *values))
