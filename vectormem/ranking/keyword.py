"""The keyword rule: a text matches when it shares a whole word with the query."""

from collections.abc import Sequence

from vectormem.ranking.words import item_words, query_words


def rank_by_words(texts: Sequence[str], query: str, limit: int | None) -> list[int]:
    """Return the positions of the matching texts, at most `limit` of them.

    Texts that share more of the query's words come first; equal ones keep their order.
    """
    wanted = query_words(query)
    shared = [len(wanted & item_words(text)) for text in texts] if wanted else []
    matches = [position for position, count in enumerate(shared) if count]
    return sorted(matches, key=lambda position: -shared[position])[:limit]
