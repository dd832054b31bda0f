"""The search over the chats of one scope key, read from memory and kept up to date with the database."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from vectormem.index.messages import MessageIndex, key_of, seq_of
from vectormem.index.search import TOLERANCE, best, exact_scores
from vectormem.ranking.bm25 import Posting, Scores, bm25
from vectormem.ranking.fusion import highest, near, share_rare
from vectormem.ranking.messages import Messages, message_scores
from vectormem.stores.cache import CachedIndex
from vectormem.stores.chat_rows import SqlChatRows
from vectormem.stores.chats import ChatFound, ChatHit, ChatQuery
from vectormem.stores.rows import VectorKind

_CHUNK = 4096


class ChatState:
    """What a loaded index reflects."""

    def __init__(self, index: MessageIndex, key_id: int) -> None:
        self.index = index
        self.key_id = key_id
        self.version = 0

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use."""
        return self.index.nbytes


def search(
    rows: SqlChatRows, entry: "CachedIndex[ChatState]", kind: VectorKind | None, query: ChatQuery, shortest: int
) -> ChatFound:
    """Return the best messages; `entry` is held by the caller."""
    index = _followed(rows, entry, kind)
    allowed = index.admitted(*query.filter)
    choose = _nearest if query.ranking == "vector" else _by_evidence
    chosen = choose(rows, index, query, allowed)
    return ChatFound(_hits(rows, index, kind, query, chosen), index.lacking(shortest) if kind else 0)


def _followed(rows: SqlChatRows, entry: "CachedIndex[ChatState]", kind: VectorKind | None) -> MessageIndex:
    """Return the index in the state that this read sees, loaded anew where messages were deleted."""
    state = entry.index
    if state is None or state.key_id != rows.key_id or state.version < rows.last_deletion:
        state = ChatState(MessageIndex(kind.dimensions if kind else 0), rows.key_id)
    if state.version < rows.version:
        _take_in(rows, state, kind)
    entry.set(state)
    return state.index


def _take_in(rows: SqlChatRows, state: ChatState, kind: VectorKind | None) -> None:
    index, facts = state.index, rows.facts(state.version)
    if len(index):
        index.drop_vectors([fact.seq for fact in facts])
    index.put(facts)
    if kind is not None:
        vectors = iter(rows.vectors(state.version, kind))
        while chunk := list(islice(vectors, _CHUNK)):
            keys = np.array([key_of(seq, part) for seq, part, _ in chunk], np.int64)
            matrix = np.frombuffer(b"".join(blob for *_, blob in chunk), "<f4").reshape(len(chunk), kind.dimensions)
            index.put_vectors(keys, matrix)
    state.version = rows.version


def _nearest(_: SqlChatRows, index: MessageIndex, query: ChatQuery, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the positions of the messages whose best passage is nearest to the query."""
    array = index.passages
    if query.vector is None or not query.vector.any() or not len(array):
        return np.empty(0, np.intp)
    mask = array.alive & allowed[index.passage_owners]
    limit = query.limit
    while True:
        hits = best(array.seqs, array.matrix, query.vector, limit, query.min_similarity, mask)
        seqs = dict.fromkeys(hit.seq for hit in hits)
        messages = list(dict.fromkeys(seq_of(np.fromiter(seqs, np.int64, len(seqs))).tolist()))
        if len(messages) >= query.limit or len(hits) < limit:
            return index.positions(np.array(messages[: query.limit], np.int64))
        limit *= 4


def _by_evidence(
    rows: SqlChatRows, index: MessageIndex, query: ChatQuery, allowed: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the positions of the messages with the most evidence, newer ones first where it is equal."""
    postings = _postings(index, rows, query.terms)
    words = bm25(postings, index.words)
    if query.vector is None:
        scores, mask = words, allowed & (words > 0)
    else:
        cosines = index.cosines(query.vector)
        scores = _ordered_scores(index, words, cosines, index.context_cosines(query.vector))
        mask = allowed & (near(cosines, query.min_similarity - TOLERANCE) | share_rare(postings, len(index)))
    return highest(scores, mask, query.limit)


def _ordered_scores(index: MessageIndex, words: Scores, cosines: Scores, contexts: Scores) -> Scores:
    order = index.order
    messages = Messages(index.conversations[order], index.words[order], index.asks[order])
    scores = np.empty(len(index))
    scores[order] = message_scores(words[order], cosines[order], contexts[order], messages)
    return scores


def _postings(index: MessageIndex, rows: SqlChatRows, terms: Sequence[str]) -> list[Posting]:
    found = []
    for term in dict.fromkeys(terms):
        pairs = np.array(rows.posting(term), np.int64).reshape(-1, 2)
        found.append(Posting(index.positions(pairs[:, 0]), pairs[:, 1]))
    return found


def _hits(
    rows: SqlChatRows, index: MessageIndex, kind: VectorKind | None, query: ChatQuery, chosen: NDArray[np.intp]
) -> list[ChatHit]:
    messages = rows.by_seq(index.seqs[chosen].tolist())
    if kind is None or query.vector is None:
        return [ChatHit(message, None, 0, len(message.content)) for message in messages]
    hits = []
    for message in messages:
        parts = rows.passages(message.seq, kind)
        if not parts:
            hits.append(ChatHit(message, None, 0, len(message.content)))
            continue
        matrix = np.frombuffer(b"".join(part.vector for part in parts), "<f4").reshape(len(parts), kind.dimensions)
        scores = exact_scores(matrix, query.vector)
        top = int(scores.argmax())
        hits.append(ChatHit(message, float(scores[top]), parts[top].start, parts[top].end))
    return hits
